"""Lists as nests of loops over affine views, for any compiler. Read the files in this order:

    views         the place of a number: an affine map from the indices of loops into a register's memory
    tree          what a line may compute entry by entry; the nodes: lines, loops, products and calls
    builder       what rules add to a program's tree by
    layout        the order of a list's lines, and of the axes of their results
    lines         from each line of a list to views, to lines of the tree, or to products; the STAGES
    applied       functions that lines apply, as lines of their own that run step by step
    arrangements, entrywise, matrices     what each operator becomes
    schedule      the one rule that gives a line its place in the tree, and the memory that roots then need
    emission      from the tree to text, in whatever language
"""
