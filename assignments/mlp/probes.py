"""What is asked of a submission beyond calling its functions: what is not plain data becomes plain data here."""


def listed(module, parameters, activation, penalty):
    """The list of an MLP's outputs and loss, its inputs, parameters and defaults, and what is scores under another name."""
    model = module.MLP(parameters, activation, penalty)
    leaves = [name for name, register in model.namedRegisterItems() if not register.definedAs]
    return {"same": [name for name in ("outputs", "loss") if getattr(model, name) is getattr(model, "scores", None)],
            "steps": list(model.operationSequence(model.outputs, model.loss)),
            "inputs": [name for name in leaves if model.isInput(name)],
            "params": [name for name in leaves if model.isParam(name)],
            "defaults": {name: value for name, value in model.inputDict().items() if name in parameters}}
