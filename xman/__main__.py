"""python -m xman is the command xman."""
from .cli import main

main()
