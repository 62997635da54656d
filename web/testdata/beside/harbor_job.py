"""Writes a Harbor job of trajectories, in Harbor's own models.

Usage: harbor_job.py TRAJECTORIES.jsonl JOBS. A line is {"id", "problem", "resolved", "turns": [{"thought", "command", "output"}]}.
"""
import datetime
import json
import pathlib
import sys

from harbor.models.agent.context import AgentContext
from harbor.models.job.config import JobConfig
from harbor.models.job.result import JobResult, JobStats
from harbor.models.task.id import LocalTaskId
from harbor.models.trajectories import Agent, Metrics, Observation, ObservationResult, Step, ToolCall, Trajectory
from harbor.models.trial.config import AgentConfig, TaskConfig, TrialConfig
from harbor.models.trial.result import AgentInfo, ModelInfo, TimingInfo, TrialResult
from harbor.models.verifier.result import VerifierResult

at = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
timing = TimingInfo(started_at=at, finished_at=at)
job = pathlib.Path(sys.argv[2]) / "trajectories"


def trial(t):
    task = LocalTaskId(path=pathlib.Path("tasks") / t["id"])
    agent = AgentConfig(name="openhands", model_name="local/student")
    config = TrialConfig(task=TaskConfig(path=task.path), trial_name=t["id"] + "__1", trials_dir=job, agent=agent)
    result = TrialResult(
        task_name=t["id"], trial_name=config.trial_name, trial_uri="file:///" + t["id"], task_id=task, task_checksum="0" * 64, config=config, source="swe",
        agent_info=AgentInfo(name="openhands", version="1", model_info=ModelInfo(name="student", provider="local")),
        agent_result=AgentContext(n_input_tokens=4211 * len(t["turns"]), n_output_tokens=96 * len(t["turns"])),
        verifier_result=VerifierResult(rewards={"reward": float(t["resolved"])}),
        started_at=at, finished_at=at, environment_setup=timing, agent_setup=timing, agent_execution=timing, verifier=timing)
    return config, result


def trajectory(t):
    steps = [Step(step_id=1, source="user", message=t["problem"])]
    for k, turn in enumerate(t["turns"]):
        call = ToolCall(tool_call_id=f"call_{k}", function_name="execute_bash", arguments={"command": turn["command"]})
        steps.append(Step(step_id=k + 2, source="agent", message=turn["thought"], tool_calls=[call], timestamp=at.isoformat(), model_name="local/student",
                          observation=Observation(results=[ObservationResult(source_call_id=call.tool_call_id, content=turn["output"])]),
                          metrics=Metrics(prompt_tokens=4211, completion_tokens=96)))
    return Trajectory(session_id=t["id"], agent=Agent(name="openhands", version="1", model_name="local/student"), steps=steps)


def write(path, model):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(model.model_dump_json(exclude_none=True))


results = []
for t in map(json.loads, open(sys.argv[1])):
    config, result = trial(t)
    folder = job / config.trial_name
    write(folder / "config.json", config)
    write(folder / "result.json", result)
    write(folder / "agent" / "trajectory.json", trajectory(t))
    results.append(result)
write(job / "config.json", JobConfig(job_name="trajectories", jobs_dir=job.parent))
write(job / "result.json", JobResult(id=results[0].id, started_at=at, finished_at=at, n_total_trials=len(results),
                                     stats=JobStats.from_trial_results(results, n_total_trials=len(results))))
