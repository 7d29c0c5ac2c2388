"""Elementary functions that LLVM vectorises: formulas, and of those powers, sine and cosine."""
