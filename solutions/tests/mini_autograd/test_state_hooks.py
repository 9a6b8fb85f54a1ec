"""Hooks on saving and loading the state of modules, compared with torch."""

import copy

from both import assert_same


def network(t):
    """Return a network with values of its own, and a list on which its hooks write."""
    net = t.nn.Sequential(t.nn.Linear(2, 1), t.nn.Sequential(t.nn.Linear(1, 1, bias=False)))
    with t.no_grad():
        for number, parameter in enumerate(net.parameters(), 1):
            parameter.fill_(number)
    return net, []


def test_hooks_on_state_dict_are_called_before_and_after_each_module_below():
    def scenario(t):
        net, seen = network(t)
        for name, module in net.named_modules():
            module.register_state_dict_pre_hook(lambda m, prefix, keep, name=name: seen.append((name, prefix, keep)))
            module.register_state_dict_post_hook(
                lambda m, state, prefix, metadata, name=name: seen.append((name, list(state), prefix, metadata))
            )
        return net.state_dict(), net.state_dict(keep_vars=True, prefix="net."), seen

    assert_same(scenario)


def test_a_hook_may_change_what_is_saved():
    def scenario(t):
        net, _ = network(t)

        def fill(module, prefix, keep_vars):
            with t.no_grad():
                module.weight.fill_(7.0)

        def rename(module, state, prefix, metadata):
            state["renamed"] = state.pop(prefix + "weight")
            metadata["version"] = 5

        net[0].register_state_dict_pre_hook(fill)
        net[1][0].register_state_dict_post_hook(rename)
        state = net.state_dict()
        return state, {name: dict(each) for name, each in state._metadata.items()}

    assert_same(scenario)


def test_a_hook_after_saving_must_return_nothing():
    def scenario(t):
        net, _ = network(t)
        net.register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
        net.state_dict()

    assert_same(scenario, RuntimeError)


def test_hooks_before_loading_see_the_state_and_may_change_it():
    def scenario(t):
        net, seen = network(t)
        state = {"0.weight": t.ones(1, 2), "0.bias": t.ones(1), "1.0.old": t.full((1, 1), 5.0), "extra": t.ones(1)}

        def rename(module, state, prefix, *rest):
            seen.append((type(module).__name__, sorted(state), prefix, *copy.deepcopy(rest)))
            if prefix + "old" in state:
                state[prefix + "weight"] = state.pop(prefix + "old")

        for module in net.modules():
            module.register_load_state_dict_pre_hook(rename)
        return net.load_state_dict(state, strict=False), list(net.parameters()), seen, sorted(state)

    assert_same(scenario)


def test_hooks_before_loading_know_the_metadata_and_whether_tensors_are_assigned():
    def scenario(t):
        net, seen = network(t)
        net[0].register_load_state_dict_pre_hook(lambda module, state, prefix, metadata, *rest: seen.append(metadata))
        net.load_state_dict(net.state_dict())
        net.load_state_dict(net.state_dict(), assign=True)
        return seen

    assert_same(scenario)


def test_hooks_before_loading_may_add_errors():
    def scenario(t):
        net, _ = network(t)

        def refuse(module, state, prefix, metadata, strict, missing, unexpected, errors):
            missing.append(prefix + "a")
            unexpected.append(prefix + "b")
            errors.append("Not today.")

        net[0].register_load_state_dict_pre_hook(refuse)
        net.load_state_dict(net.state_dict())

    assert_same(scenario, RuntimeError)


def test_hooks_after_loading_may_forgive_what_does_not_fit():
    def scenario(t):
        net, seen = network(t)

        def forgive(module, keys):
            seen.append((type(module).__name__, list(keys.missing_keys), list(keys.unexpected_keys), str(keys)))
            keys.missing_keys.clear()

        for module in net.modules():
            module.register_load_state_dict_post_hook(forgive)
        state = net.state_dict()
        del state["0.bias"]
        return net.load_state_dict(state), seen

    assert_same(scenario)


def test_a_hook_after_loading_must_return_nothing():
    def scenario(t):
        net, _ = network(t)
        net.register_load_state_dict_post_hook(lambda module, keys: keys)
        net.load_state_dict(net.state_dict())

    assert_same(scenario, AssertionError)


def test_hooks_on_states_are_removed_by_their_handles():
    def scenario(t):
        net, seen = network(t)
        handles = [
            net.register_state_dict_pre_hook(lambda *args: seen.append("before saving")),
            net.register_state_dict_post_hook(lambda *args: seen.append("after saving")),
            net.register_load_state_dict_pre_hook(lambda *args: seen.append("before loading")),
            net.register_load_state_dict_post_hook(lambda *args: seen.append("after loading")),
        ]
        net.load_state_dict(net.state_dict())
        for handle in handles:
            handle.remove()
        net.load_state_dict(net.state_dict())
        return seen

    assert_same(scenario)


def test_a_copied_module_has_the_hooks_too():
    def scenario(t):
        net, seen = network(t)
        net.register_state_dict_pre_hook(lambda module, *args: seen.append(module[0].bias))
        net.register_load_state_dict_pre_hook(lambda module, *args: seen.append(module[0].weight))
        twin = copy.deepcopy(net)
        with t.no_grad():
            twin[0].bias.fill_(9.0)
        net.load_state_dict(twin.state_dict())
        twin.load_state_dict(net.state_dict())
        return seen

    assert_same(scenario)
