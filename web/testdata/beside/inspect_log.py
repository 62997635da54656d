"""Writes an Inspect log of trajectories, by an evaluation of Inspect's own with its mock model and a tool that answers as it did.

Usage: inspect_log.py TRAJECTORIES.jsonl LOGS. A line is {"id", "problem", "resolved", "turns": [{"thought", "command", "output"}]}.
"""
import json
import sys

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import ToolCall, tool

trajectories = {t["id"]: t for t in map(json.loads, open(sys.argv[1]))}


def answer(messages, *_):
    """answer is the turn that comes after the messages, of the trajectory that the first message names."""
    turns = trajectories[messages[0].text.split(":")[0]]["turns"]
    done = sum(isinstance(m, ChatMessageAssistant) for m in messages)
    usage = ModelUsage(input_tokens=4211, output_tokens=96, total_tokens=4307)  # stated, or it fetches a tokenizer to count
    if done == len(turns):
        return ModelOutput.from_content("student", "Done.").model_copy(update={"usage": usage})
    turn = turns[done]
    call = ToolCall(id=f"call_{done}", function="execute_bash", arguments={"command": turn["command"], "turn": done, "trajectory": messages[0].text.split(":")[0]})
    message = ChatMessageAssistant(content=turn["thought"], tool_calls=[call])
    return ModelOutput.from_message(message, stop_reason="tool_calls").model_copy(update={"usage": usage})


@tool
def execute_bash():
    async def execute(command: str, turn: int, trajectory: str) -> str:
        """Run a command.

        Args:
            command: what to run
            turn: its turn
            trajectory: its trajectory
        """
        return trajectories[trajectory]["turns"][turn]["output"]

    return execute


@scorer(metrics=[accuracy()])
def verdict():
    async def score(state, target):
        return Score(value=CORRECT if trajectories[str(state.sample_id)]["resolved"] else INCORRECT)

    return score


def main():
    """Evaluates the first trajectory; the others have as many turns, and its events under their own ids."""
    first = next(iter(trajectories.values()))
    [log] = eval(
        Task(
            dataset=[Sample(id=first["id"], input=f"{first['id']}: {first['problem']}", target="")],
            solver=[use_tools(execute_bash()), generate(tool_calls="loop")],
            scorer=verdict(),
            name="trajectories",
        ),
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=sys.argv[2],
        display="none",
        max_tool_output=0,
    )
    assert log.status == "success", log.error
    if len(trajectories) == 1:
        return
    log = read_eval_log(log.location)
    log.samples = [log.samples[0].model_copy(update={"id": t, "uuid": f"sample-{t}"}) for t in trajectories]
    log.eval.dataset.samples, log.eval.dataset.sample_ids = len(trajectories), list(trajectories)
    log.results.total_samples = log.results.completed_samples = len(trajectories)
    write_eval_log(log, log.location)


main()
