"""Text to type into each chapter's notebook in the browser: a wrong and a right answer to an early exercise."""

from dataclasses import dataclass

from kept_answers import edited, solution


@dataclass(frozen=True)
class Exercise:
    """An early exercise of a chapter, an edit that makes its solution wrong, and what its check then says.

    needs: exercises that must be solved with it. lessons: the ids of the lesson cells that its payoff draws on.
    """

    chapter: str
    title: str
    edit: dict[str, str] | str
    wrong_says: str
    needs: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()

    @property
    def number(self) -> str:
        return self.title[:4].replace(".", "-")

    @property
    def right(self) -> str:
        return "\n\n".join(solution(check_id).strip() for check_id in (*self.needs, self.title[:4]))

    @property
    def wrong(self) -> str:
        return edited(self.right, self.edit).strip()


EXERCISES = [
    Exercise(
        chapter="00_twenty_lines",
        title="00.1 a number that remembers",
        edit={"(self, other.data), (other, self.data)": "(self, self.data), (other, other.data)"},
        wrong_says="In your product, each edge holds its own input's number",
    ),
    Exercise(
        chapter="01_graph",
        title="01.1 the slope of anything",
        edit={"leaf = x.clone()": "leaf = x"},
        wrong_says="The second slope contains the first",
    ),
    Exercise(
        chapter="02_external_gradients",
        title="02.1 the gradient that arrives at x",
        edit={"return leaf.grad": "return v"},
        wrong_says="It still has to be multiplied by dy/dx",
    ),
    Exercise(
        chapter="03_accumulation",
        title="03.1 the ledger of a leaf",
        edit={"arrives if grad is None else grad + arrives": "arrives"},
        wrong_says="Each backward pass replaced the last gradient",
    ),
    Exercise(
        chapter="04_grad_fn",
        title="04.1 a path to a leaf",
        edit={"while node is not None:": "if node is not None:"},
        wrong_says="Its next_functions lead on",
    ),
    Exercise(
        chapter="05_freezing",
        title="05.1 everything frozen but one part",
        edit={"requires_grad_(True)": "train()"},
        wrong_says="Unfreeze the part after you freeze the rest",
    ),
    Exercise(
        chapter="06_tensor_hooks",
        title="06.1 a recorder of gradients",
        edit={"handles.enter_context(tensor.register_hook(hook_for(name)))": "tensor.register_hook(hook_for(name))"},
        wrong_says="Likely slip: hooks left behind. After the block your hooks still fire and record.",
    ),
    Exercise(
        chapter="07_module_hooks",
        title="07.1 silence some channels",
        edit={"return silenced": "output = silenced"},
        wrong_says="A hook has no effect if it returns nothing",
    ),
    Exercise(
        chapter="08_saliency",
        title="08.2 saliency",
        edit={".abs()": ""},
        wrong_says="Take the absolute value first",
        lessons=("s7-train", "s7-theirs", "s1-train", "s1-nets"),
    ),
    Exercise(
        chapter="09_when_gradients_go_wrong",
        title="09.1 a detector of in-place writes",
        edit={"tensor.detach().clone()": "tensor.detach()"},
        wrong_says="finds no silent write",
    ),
    Exercise(
        chapter="10_functions_of_your_own",
        title="10.4 straight-through rounding with a limit",
        edit={"v * (x.abs() <= ctx.limit)": "v"},
        wrong_says="Your gradient is v even outside the limits",
    ),
    Exercise(
        chapter="16_more_than_one_gradient",
        title="10.5 a Hessian-vector product",
        edit={"create_graph=True": "create_graph=False"},
        wrong_says="The first gradient has no graph",
    ),
    Exercise(
        chapter="11_record",
        title="11.2 record an operation",
        edit={"if state.grad and any": "if any"},
        wrong_says="although state.grad was off",
        needs=("11.1",),
    ),
    Exercise(
        chapter="12_backward",
        title="12.2 count the dependencies",
        edit="""
-            if node not in dependencies:
-                dependencies[node] = 0
-                stack.append(node.next_functions)
-            dependencies[node] += 1
+            stack.append(node.next_functions)
+            dependencies[node] = dependencies.get(node, 0) + 1
""",
        wrong_says="The counts below shared nodes are too large",
    ),
    Exercise(
        chapter="13_hooks_and_freezing",
        title="13.3 calling the tensor hooks",
        edit={".values())": ".values())[::-1]"},
        wrong_says="The hooks are called in the opposite order.",
    ),
    Exercise(
        chapter="14_train",
        title="14.1 the sigmoid, forward and backward",
        edit={" * (1 - result)": ""},
        wrong_says="the factor (1 - result) is missing",
    ),
    Exercise(
        chapter="15_clinic",
        title="15.5 three weights that learn",
        edit={"raw**exponent": "raw ** exponent.item()"},
        wrong_says="the exponent did not move",
    ),
    Exercise(
        chapter="17_in_the_wild",
        title="17.3 a scaler of your own",
        edit={"return scale / 2": "return scale"},
        wrong_says="you returned the same scale",
    ),
]
