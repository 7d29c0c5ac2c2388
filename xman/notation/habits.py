"""What names of JAX, PyTorch and autograd are here: the table of the page `coming-from`, and answers to them.

A row has names, then two spaces and what to write; a name with = is an option. The names that work as they
are (grad, jit, vmap, …) are not here.
"""
from ops.expression import HABITS

LINES = """
    stop_gradient, detach, detach_  f.stopGradient(x)
    no_grad, inference_mode, enable_grad, is_grad_enabled,
        set_grad_enabled  nothing is recorded outside of grad, trace and jit: leave it out
    requires_grad, requires_grad_, create_graph=,
        retain_graph=  grad(fn) is by arguments, and of any order: nothing is marked
    backward  xman.grad(fn)(x), or xman.backprop(steps, values, loss=1.0) of a list
    Variable, GradientTape  xman.grad(fn), or xman.Tape for a list that is run once
    numpy  a traced value takes NumPy's functions as it is: leave it out
    zero_grad  a gradient is a result, and nothing adds to it: leave it out
    custom_jvp, custom_gradient, custom_root, custom_linear_solve, primitive, defvjp, defjvp, extend,
        Function  @xman.custom_vjp, or ops.operator(name, value, *rules)
    elementwise_grad, egrad  xman.derivative(fn), or grad of np.sum(fn(x))
    make_vjp, make_jvp, make_hvp, linearize,
        linear_transpose  xman.vjp(fn, x), xman.jvp(fn, (x,), (t,)), xman.hvp(fn, (x,), (v,))
    hessian_vector_product, vhp  xman.hvp(fn, (x,), (v,))
    make_jaxpr, jaxpr, symbolic_trace, fx  xman.trace(fn, x), which gives the list
    eval_shape, ShapeDtypeStruct  xman.shapes(steps, values)
    checkpoint, remat  xman.call(fn, x): the way back computes again what is inside
    lax  xman.scan, xman.cond, xman.while_loop, xman.map and xman.call
    fori_loop  xman.scan(fn, carry, length=n), or a loop of Python's
    switch, select  np.where(c, x, y), which runs both, or xman.cond(c, yes, no, x)
    lazy_map, vectorize  xman.vmap(fn), or functions of arrays, which take a batch as they are
    pmap, shard_map, pjit, NamedSharding, DistributedDataParallel, distributed, psum, pmean, axis_index,
        all_reduce  xman.scale, and `xman train --workers`
    device_put, device_get, devices, device_count, local_devices, default_backend, is_available, cuda, to, cpu, pin_memory,
        block_until_ready, device=  arrays are NumPy's, in this machine's memory: leave it out
    random, PRNGKey, key, split, manual_seed, rand, randn, bernoulli,
        distributions  np.random.default_rng(seed): randomness is an input
    nn, Module, Linear, Sequential, flax, linen, nnx, haiku, functional, Conv2d,
        Embedding  xman.models, or a subclass of xman.XMan
    optim, optax, SGD, Adam  xman.train.fit(model, data, optimizer="adam"), or xman.train.training_list
    DataLoader, TensorDataset  xman.train.fit takes the arrays, and xman.scale streams of files
    tensor, Tensor, FloatTensor, Array, ArrayLike, array, asarray, as_tensor, from_numpy, zeros, ones, zeros_like,
        ones_like, full, eye, arange, linspace  arrays are NumPy's: np.array(…), in a function xman.numpy.array(…)
    tree_util, tree, tree_flatten, tree_unflatten, tree_leaves, tree_structure, tree_reduce, pytree, ravel_pytree,
        flatten_util  xman.tree_map(fn, tree); lists, tuples, dicts and dataclasses are trees
    register_pytree_node, register_dataclass  dataclasses are trees as they are; metadata={"static": True} leaves a field out
    debug, breakpoint  print: a traced value prints its line, and xman.explore(fn, x) shows each
    config, enable_x64, set_default_dtype, get_default_dtype, float64, autocast, amp,
        GradScaler  precision is that of the arrays: np.float32(x) or np.float64(x)
    script, onnx  xman.export.to_onnx(steps, values, path), or `xman export`
    detect_anomaly, set_detect_anomaly, debug_nans, checkify,
        backward_nan  xman.why(fn, x) names the line that made a NaN or a 0
    check_grads, gradcheck, test_util  xman.check(steps, values)
    value_and_jacrev, jacobian_sparse, vectorize=,
        strategy=  xman.jacobian(fn), and xman.Jacobian of a list, which finds the sparse ones
    at, add_, sub_, mul_, div_, zero_, fill_, copy_, index_put_,
        dynamic_update_slice  a value is not changed in its place: np.where(mask, new, x), np.concatenate, or x = x + 1
    masked_fill, masked_fill_  np.where(mask, new, x)
    gather, index_select, take_along_dim, dynamic_slice, embedding  x[indices], or np.take_along_axis(x, indices, axis)
    scatter, scatter_add, scatter_add_, index_add, index_add_, segment_sum  f.scatterAdd(d, like, indices)
    unsqueeze, view, view_as, permute, movedim, t  x.reshape(…), x[None], np.transpose(x, axes), x.T
    flatten  x.reshape(-1); trees go into grad, hvp and minimize as they are
    expand, expand_as, tile, repeat_interleave  np.broadcast_to(x, shape), np.tile, np.repeat
    contiguous, clone  arrays are values: leave it out
    bmm, mv, addmm, addmv, dot_general  a @ b
    cat  np.concatenate
    clamp_min, clamp_max  np.clip(x, least, greatest)
    dim, numel  x.ndim, x.size, x.shape
    float, double, half  x.astype(np.float64), x.astype(np.float32)
    topk, sort  np.sort(x), or x[np.argsort(-x)[:k]]
    linear  x @ W + b
    nll_loss, CrossEntropyLoss, softmax_cross_entropy  np.mean(f.softmaxCrossEntropy(scores, y))
    binary_cross_entropy, binary_cross_entropy_with_logits, BCELoss,
        BCEWithLogitsLoss  np.mean(f.sigmoidCrossEntropy(scores, y))
    mse_loss, MSELoss, l2_loss  np.mean((x - y) ** 2)
    l1_loss, L1Loss  np.mean(np.abs(x - y))
    dropout, Dropout  x * mask, with a mask that the caller draws: randomness is an input
    layer_norm, LayerNorm, batch_norm, BatchNorm1d  (x - np.mean(x, -1, keepdims=True)) / np.std(x, -1, keepdims=True)
    conv2d, conv_general_dilated  f.convolve for vectors, and xman.models.ConvolutionalNetwork
    grad_fn, is_leaf, retain_grad,
        register_hook  a number has no gradient, a function has: xman.value_and_grad(fn), or the deltas of xman.backprop
    pure_callback, io_callback, host_callback  ops.operator(name, value, *rules): your function as one line
    named_call, named_scope  xman.call(fn, x), and a list has the names of your variables
    disable_jit, ensure_compile_time_eval  call fn in the place of xman.jit(fn)
    lower, as_text, cost_analysis, clear_cache,
        clear_caches  fast = xman.jit(fn): fast.lists, fast.guards, fast.engine, fast.why; jit(fn) again begins anew
    associative_scan  xman.scan(fn, carry, xs), a step after the other
    saved_residuals, print_saved_residuals, profiler  xman.cost(steps, wrt=["x"], values=values)
    save, state_dict, load_state_dict  parameters are arrays: np.savez(path, **params), or `xman train --save`
    parameters  parameters are arguments, as a dict of arrays, or those of model.inputDict()
    functional_call, make_functional, functorch, func  functions take their parameters: xman.grad(fn)(params, x)
    filter_jit, filter_grad, filter_value_and_grad, equinox, eqx  xman.jit, xman.grad: dataclasses are trees
    grad_and_aux  xman.grad(fn, has_aux=True)
    make_ggnvp, ggnvp  xman.GaussNewton(steps, of, wrt)
    tensor_jacobian_product, vector_jacobian_product, jacobian_vector_product  xman.vjp(fn, x), xman.jvp(fn, (x,), (t,))
    grad_named, multigrad_dict  xman.grad(fn, (0, 1)), or arguments in a dict
    getval, ArrayBox  f.stopGradient(x)
    einsum  np.einsum, or f.einsum
    static_argnums=,
        static_argnames=  arguments that are no arrays of floats belong to the program by themselves: leave it out
    donate_argnums=  xman.compile(steps, inplace={"W": "W_next"}) overwrites an input: leave it out
    argnames=  the positions of the arguments by argnums=; by names there are arguments in a dict
    in_axes=, out_axes=, in_dims=, out_dims=  xman.vmap(fn, in_axes, out_axes)
    axis_name=, axis_size=, spmd_axis_name=, randomness=, chunk_size=, batch_size=,
        unroll=  vmap, map and scan are one loop, a step after the other: leave it out
    inline=, keep_unused=, in_shardings=, out_shardings=, compiler_options=, abstracted_axes=,
        reduce_axes=  there is nothing to choose here: leave it out
    inputs=, outputs=, grad_outputs=, allow_unused=  xman.grad(fn)(x): a gradient is that of a function, by its arguments
    operand=, operands=, pred=, true_fun=, false_fun=  xman.cond(c, yes, no, *args)
    cond_fun=, body_fun=, init_val=  xman.while_loop(test, fn, carry)
    init=  xman.scan(fn, carry, xs)
    nondiff_argnums=  all arguments go to both functions, and backward gives 0.0 for such a one: leave it out
    is_leaf=  lists, tuples, dicts, dataclasses and None are trees, and all else is a leaf: leave it out
    holomorphic=  grad and jacobian have it, for complex functions of complex numbers
    allow_int=  arguments are floats: leave it out
    fullgraph=, dynamic=, backend=  compile(steps, engine="numpy") and jit(fn, engine="numpy") name the engine
    options=  engine= of compile and jit, epochs= and tolerance= of minimize
    x0=, args=  minimize(fn, start=x0, data=args), and so of least_squares
    bounds=, constraints=  a parameter within bounds is a function of a free one: np.exp(x), low + (high - low) * f.sigmoid(x)
    jac=, hess=, hessp=  derivatives are xman's: leave it out
    tol=, ftol=, xtol=, gtol=  tolerance=
    maxiter=, max_nfev=  epochs=
    callback=, disp=, verbose=  callbacks=[fn] is called after each epoch, progress= shows them
    loss=, f_scale=  minimize(fn, start=…) of the loss that you write
"""
ROWS = [line.strip().split("  ", 1) for line in LINES.strip().replace(",\n        ", ", ").splitlines()]
HABITS.update((name, here) for names, here in ROWS for name in names.split(", "))
