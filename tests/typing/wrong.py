"""What users mistype: a type checker finds each of these lines."""
import xman
from xman import XMan, f


class Line(XMan):
    x = f.input()
    y = f.sofmax(x)  # wrong


Line().setup().inptDict(x=1.0)  # wrong
xman.bakprop([], {})  # wrong
f.exp()  # wrong
xman.gradient([], of="y")  # wrong
