"""How a derivative comes about, to look at: as a function, a trace, a derivation, a graph, a cost."""
from ..errors import suggesting
from ..formulas.polynomial import expand
from .cost import Cost, cost
from .derivation import Derivation, derivation
from .explain import Explanation, explain
from .listing import Listing, listing
from .paths import Paths, paths
from .picture import Picture, picture
from .source import source
from .terminal import spell_out

spell_out()

__all__ = ["cost", "derivation", "expand", "explain", "listing", "paths", "picture", "source"]
__all__ += ["Cost", "Derivation", "Explanation", "Listing", "Paths", "Picture"]
suggesting(__name__)
