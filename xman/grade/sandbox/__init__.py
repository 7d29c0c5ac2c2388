"""The sandbox, in which submissions run: they reach nothing outside, and leave nothing behind."""
import functools

from xman.errors import XManError

from .box import Sandbox
from .bubblewrap import Bubblewrap
from .unsafe import Unsafe
from .worker import Limits, Worker


@functools.cache
def sandbox_here(unsafe: bool = False) -> Sandbox:
    """The sandbox of this machine, which is tried once. XManError says what to install to get one.

    unsafe: if bubblewrap does not work, take a weaker one, in which the network and all files are open.
    """
    try:
        return Bubblewrap.on_this_machine()
    except XManError as error:
        if unsafe:
            return Unsafe.on_this_machine()
        raise XManError(f"{error} Without a sandbox a submission can read and write the files of this "
                        "machine and reach the network; --unsafe grades it all the same.") from None
