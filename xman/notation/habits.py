"""What names of JAX, PyTorch and autograd are here: the table of the page `coming-from`, and answers to them.

A line has names, then two spaces and what to write; a name with = is an option. The names that work as they
are (grad, jit, vmap, …) are not here.
"""
from ops.expression import HABITS

LINES = """
    stop_gradient, detach, detach_  f.stopGradient(x)
    no_grad, inference_mode, enable_grad, set_grad_enabled  nothing is recorded outside of grad, trace and jit: leave it out
    requires_grad, requires_grad_, create_graph=, retain_graph=  grad(fn) is by arguments, and of any order: nothing is marked
    backward  xman.grad(fn)(x), or xman.backprop(steps, values, loss=1.0) of a list
    Variable, GradientTape  xman.grad(fn), or xman.Tape for a list that is run once
    numpy  a traced value takes NumPy's functions as it is: leave it out
    zero_grad  a gradient is a result, and nothing adds to it: leave it out
    custom_jvp, custom_gradient, primitive, defvjp, defjvp, Function  @xman.custom_vjp, or ops.operator(name, value, *rules)
    elementwise_grad, egrad  xman.derivative(fn), or grad of np.sum(fn(x))
    make_vjp, make_jvp, make_hvp, linearize, linear_transpose  xman.vjp(fn, x), xman.jvp(fn, (x,), (t,)), xman.hvp(fn, (x,), (v,))
    hessian_vector_product, vhp  xman.hvp(fn, (x,), (v,))
    make_jaxpr, jaxpr, symbolic_trace, fx  xman.trace(fn, x), which gives the list
    eval_shape, ShapeDtypeStruct  xman.shapes(steps, values)
    checkpoint, remat  xman.call(fn, x): the way back computes again what is inside
    lax  xman.scan, xman.cond, xman.while_loop, xman.map and xman.call
    fori_loop  xman.scan(fn, carry, length=n), or a loop of Python's
    switch, select  np.where(c, x, y), which runs both, or xman.cond(c, yes, no, x)
    lazy_map, vectorize  xman.vmap(fn), or functions of arrays, which take a batch as they are
    pmap, shard_map, pjit, NamedSharding, DistributedDataParallel  xman.scale, and `xman train --workers`
    device_put, cuda, to, cpu, block_until_ready, device=  arrays are NumPy's, in this machine's memory: leave it out
    random, PRNGKey, key, manual_seed  np.random.default_rng(seed): randomness is an input
    nn, Module, Linear, Sequential, flax, linen, haiku  xman.models, or a subclass of xman.XMan
    optim, optax, SGD, Adam  xman.train.fit(model, data, optimizer="adam"), or xman.train.training_list
    DataLoader, TensorDataset  xman.train.fit takes the arrays, and xman.scale streams of files
    tensor, Tensor, array, asarray, as_tensor, from_numpy  arrays are NumPy's: np.array(…), in a function xman.numpy.array(…)
    tree_util, tree, tree_flatten, tree_leaves, pytree  xman.tree_map(fn, tree); lists, tuples, dicts and dataclasses are trees
    register_pytree_node, register_dataclass  dataclasses are trees as they are; metadata={"static": True} leaves a field out
    debug, breakpoint  print: a traced value prints its line, and xman.explore(fn, x) shows each
    config, enable_x64, set_default_dtype, float64  precision is that of the arrays: np.float32(x) or np.float64(x)
    script, onnx  xman.export.to_onnx(steps, values, path), or `xman export`
    detect_anomaly, set_detect_anomaly, debug_nans, checkify, backward_nan  xman.why(fn, x) names the line that made a NaN or a 0
    check_grads, gradcheck  xman.check(steps, values)
    value_and_jacrev, jacobian_sparse  xman.jacobian(fn), and xman.Jacobian of a list, which finds the sparse ones
    einsum  np.einsum, or f.einsum
    static_argnums=, static_argnames=  arguments that are no arrays of floats belong to the program by themselves: leave it out
    donate_argnums=  xman.compile(steps, inplace={"W": "W_next"}) overwrites an input: leave it out
    argnames=  the positions of the arguments by argnums=; by names there are arguments in a dict
    in_axes=, out_axes=  xman.vmap(fn, in_axes), which stacks along axis 0
    holomorphic=, allow_int=  numbers are real, and arguments floats: leave it out
    fullgraph=, dynamic=, backend=  compile(steps, engine="numpy") and jit(fn, engine="numpy") name the engine
"""
ROWS = [line.strip().split("  ", 1) for line in LINES.strip().splitlines()]
HABITS.update((name, here) for names, here in ROWS for name in names.split(", "))
