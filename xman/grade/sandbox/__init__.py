"""Where submissions run: a place from which nothing can be reached, and gone when it is left."""
import functools

from xman.errors import XManError

from .box import Sandbox
from .bubblewrap import Bubblewrap
from .unsafe import Unsafe
from .worker import Limits, Worker


@functools.cache
def sandbox_here(unsafe: bool = False) -> Sandbox:
    """The sandbox of this machine, tried once by running it. XManError says what to install for one.

    unsafe: where bubblewrap does not work, a weaker one, which the network and all files are open to.
    """
    try:
        return Bubblewrap.found()
    except XManError as error:
        if unsafe:
            return Unsafe.found()
        raise XManError(f"{error} Without a sandbox a submission can read and write the files of this "
                        "machine and reach the network; --unsafe grades it all the same.") from None
