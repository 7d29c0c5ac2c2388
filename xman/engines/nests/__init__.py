"""Lists as nests of loops over affine views, whoever compiles them. Read it in this order:

    views           where a number lies: an affine map from the indices of loops into the memory of a register
    tree            what there is to do: lines, and the loops, products and calls of a tree
    lines           from each line of a list to views, to lines of the tree, or to products
    applied         functions that lines apply, as lines of their own that run step by step
    arrangements, contractions, entrywise   what each operator becomes
    schedule        the one rule by which a line finds its place in the tree,
    and what memory that leaves to be kept
"""
