package server

import (
	"maps"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// describeFields writes what the fields of relabel's own types mean into the
// description: those types know nothing of it. Ids are marked as the UUIDs they are.
func describeFields(api *huma.OpenAPI) {
	for name, schema := range api.Components.Schemas.Map() {
		for field, property := range schema.Properties {
			if property.Description == "" {
				property.Description = fieldMeaning(name, field)
			}
			if property.Type == huma.TypeString && (field == "id" || strings.HasSuffix(field, "_id")) && field != "instance_id" && field != "call_id" {
				property.Format = "uuid"
			}
		}
	}
}

// embedding names the types whose fields stand in another's object.
var embedding = map[string]string{"IterationView": "Iteration", "ActionView": "Action", "VerdictView": "Verdict",
	"RunView": "Run", "RunTime": "TimeReport", "IterationTime": "TimeReport"}

func fieldMeaning(schema, field string) string {
	if meaning, ok := fieldMeanings[schema+"."+field]; ok {
		return meaning
	}
	return fieldMeanings[embedding[schema]+"."+field]
}

// fieldMeanings says what each field of a relabel type means, with its unit.
var fieldMeanings = merge(taskMeanings, policyMeanings, runMeanings, schedulingMeanings, trajectoryMeanings, turnMeanings, exportMeanings, timeMeanings, relabelMeanings, noticeMeanings, reviewMeanings)

func merge(parts ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	return all
}

var taskMeanings = map[string]string{
	"Taskset.id":             "Its id.",
	"Taskset.name":           "Its name.",
	"Taskset.digest":         "SHA-256 of the file it came from, in hex.",
	"Taskset.tasks":          "How many tasks it has.",
	"Taskset.held_out":       "How many of them are held out.",
	"Taskset.created_at":     "When it was imported.",
	"Task.id":                "Its id.",
	"Task.taskset_id":        "The taskset it belongs to.",
	"Task.instance_id":       "Its name, unique in its taskset.",
	"Task.repo":              "The repository, as the data set names it.",
	"Task.base_commit":       "The commit that work starts from; empty: the image's HEAD.",
	"Task.image":             "The container image.",
	"Task.workdir":           "Absolute path of the repository in the image.",
	"Task.problem_statement": "What is to be solved, as the agent reads it.",
	"Task.hints_text":        "Hints, where the data set has some.",
	"Task.patch":             "Gold patch: what resolves the task.",
	"Task.test_patch":        "What the verifier adds before it runs the tests.",
	"Task.test_cmd":          "The test command.",
	"Task.eval_script":       "The script that the test command is a part of, with what prepares the tests; absent where the command is all.",
	"Task.log_parser":        "How the test command's output is read.",
	"Task.fail_to_pass":      "Tests that the gold patch makes pass.",
	"Task.pass_to_pass":      "Tests that pass before and after.",
	"Task.held_out":          "Whether it is never rolled out for training.",
}

var policyMeanings = map[string]string{
	"Policy.id":                        "Its id; every version has its own.",
	"Policy.name":                      "Its name.",
	"Policy.version":                   "Its version under that name, from 1. A version never changes.",
	"Policy.base_url":                  "Address of the endpoint, up to and with /v1.",
	"Policy.replicas":                  "Further addresses that serve the same model.",
	"Policy.price":                     "What its tokens cost; absent: not known.",
	"Policy.cache_markers":             "How requests mark what the server is to keep in its prompt cache; absent: not at all.",
	"Policy.tokenizer":                 "Folder with the model's tokenizer, on the machines that build exports; absent: not said.",
	"Policy.chat_template":             "File with its chat template, there; absent: the folder's own.",
	"Policy.model":                     "The model's name, as the server knows it.",
	"Policy.server":                    "What kind of server it is.",
	"Policy.tool_format":               "How tools and calls go over the line: native or text.",
	"Policy.secret":                    "Name of the secret that holds the API key; never the key.",
	"Policy.sampling":                  "How it samples when it collects.",
	"Policy.limits":                    "Bounds of its use.",
	"Policy.created_at":                "When this version was made.",
	"Sampling.temperature":             "Sampling temperature.",
	"Sampling.top_p":                   "Nucleus of probability mass that is sampled from.",
	"Sampling.max_tokens":              "Most tokens of one answer; 0 leaves it to the server.",
	"PolicyLimits.concurrency":         "Most calls in flight at each address in one worker process. How many really are adapts to the server.",
	"PolicyLimits.requests_per_minute": "Requests a minute at each address in one worker process; 0: no limit.",
	"PolicyLimits.tokens_per_minute":   "Tokens a minute, prompt and answer, at each address in one worker process; 0: no limit.",
	"PolicyLimits.timeout_seconds":     "Seconds that one HTTP request may take.",
	"PolicyLimits.retries":             "Further tries after an answer that is of no use.",
	"PolicyLimits.patience_seconds":    "Seconds that a call waits for an endpoint that is down or says that it is busy, before it fails.",
	"PolicyLimits.hedge_after_seconds": "Seconds without an answer after which another replica is asked too; 0: never.",
	"Price.input":                      "A million tokens of prompts.",
	"Price.cached":                     "A million tokens of prompts that came from the server's cache.",
	"Price.output":                     "A million tokens of answers.",
	"Price.batch":                      "Share of these prices that answers of the batch endpoint cost; absent: all of them.",
	"Price.currency":                   "Currency, in three letters.",
	"ModelSeen.policy_id":              "The policy.",
	"ModelSeen.base_url":               "The address that answered.",
	"ModelSeen.model":                  "The model, as its answer names it.",
	"ModelSeen.fingerprint":            "system_fingerprint of the answer; empty where the server gives none.",
	"ModelSeen.first_at":               "When it was first seen.",
	"Call.id":                          "Its id.",
	"Call.policy_id":                   "The policy that was asked.",
	"Call.trajectory_id":               "The trajectory it was asked for.",
	"Call.attempt":                     "The attempt it was asked in.",
	"Call.t":                           "The turn it was asked at.",
	"Call.purpose":                     "act: the answer was executed. label: it labels a student's turn. probe: a test of the endpoint.",
	"Call.started_at":                  "When the first try began.",
	"Call.millis":                      "Milliseconds from the first try to the last answer.",
	"Call.tries":                       "HTTP requests that it took.",
	"Call.status":                      "HTTP status of the last try; 0 when no answer came.",
	"Call.finish_reason":               "Why the model stopped, in the server's word.",
	"Call.usage":                       "Tokens, as the server counts.",
	"Call.model":                       "The model that the server says it ran.",
	"Call.cost_micros":                 "What it cost, in millionths of the currency of the policy's price; absent where price or usage is not known.",
	"Call.base_url":                    "The address that was asked last.",
	"Call.queue_millis":                "Milliseconds that it waited for a place at the endpoint, before all tries together.",
	"Call.hedged":                      "Whether two replicas were asked at once; each has its own record.",
	"Call.clamped":                     "What the answer said beyond its bounds, and was cut or dropped: `usage`, `logprobs`, `token_ids`, `prompt_token_ids`, `finish_reason`, `refusal`, `model`, `system_fingerprint`, `numbers` (NaN or Infinity).",
	"Call.error":                       "What went wrong.",
	"Usage.prompt_tokens":              "Tokens of the prompt.",
	"Usage.completion_tokens":          "Tokens of the answer.",
	"Usage.cached_tokens":              "Tokens of the prompt that came from the server's cache.",
}

var runMeanings = map[string]string{
	"Run.id":                        "Its id.",
	"Run.name":                      "Its name.",
	"Run.recipe":                    "sft: teacher states. dagger: turn mixture, eq. 8. aggrevate: student prefixes, eq. 9.",
	"Run.scaffold":                  "The tools and prompts that agents work with.",
	"Run.prompts":                   "The texts that open every trajectory.",
	"Run.taskset_id":                "The taskset.",
	"Run.instances":                 "Instance ids that are rolled out; absent: every task that is not held out.",
	"Run.teacher_id":                "The teacher policy, πe.",
	"Run.beta":                      "Schedule of βi.",
	"Run.rho":                       "Schedule of ρi.",
	"Run.limits":                    "Bounds of each trajectory.",
	"Run.seed":                      "Seed of every draw.",
	"Run.created_at":                "When it was made.",
	"Prompts.system":                "System message.",
	"Prompts.first":                 "First user message, with {workdir}, {problem_statement} and {hints_text} for the task's.",
	"Prompts.tools":                 "The tools, as they are described to the models.",
	"Tool.name":                     "The tool's name.",
	"Tool.description":              "What the models are told about it.",
	"Tool.parameters":               "JSON Schema of its arguments, as text.",
	"BetaSchedule.kind":             "linear, exponential, constant or list.",
	"BetaSchedule.start":            "β1 of linear and exponential, the value of constant; a probability.",
	"BetaSchedule.step":             "Linear: what is taken off an iteration.",
	"BetaSchedule.decay":            "Exponential: the factor an iteration.",
	"BetaSchedule.floor":            "Linear and exponential: never below this.",
	"BetaSchedule.values":           "List: β1, β2, …; the last one holds on.",
	"RhoSchedule.kind":              "shifting, uniform, constant or list.",
	"RhoSchedule.max":               "Largest κ of shifting and uniform, the value of constant; in turns.",
	"RhoSchedule.values":            "List: κ of iteration 1, 2, …, in turns; the last one holds on.",
	"RunLimits.max_turns":           "Most turns of a trajectory (Tmax).",
	"RunLimits.max_context_tokens":  "Most tokens of prompt and answer together.",
	"RunLimits.wall_clock_seconds":  "Seconds that a rollout may take, without its verification.",
	"RunLimits.command_seconds":     "Seconds without output after which a command is ended.",
	"RunLimits.verify_seconds":      "Seconds that the test command may take.",
	"RunLimits.environment_retries": "Attempts that may end with a broken sandbox or verifier before a trajectory fails.",
	"Iteration.id":                  "Its id.",
	"Iteration.run_id":              "The run.",
	"Iteration.number":              "i, from 1; collect and evaluate iterations count apart.",
	"Iteration.kind":                "collect: mixture rollouts with labels. evaluate: the student alone, greedy.",
	"Iteration.student_id":          "The student policy of this round, πθ.",
	"Iteration.beta":                "βi, the chance that the teacher executes a turn, of a dagger or sft round.",
	"Iteration.rho":                 "ρi, the law of κ, of an aggrevate round.",
	"Iteration.generations":         "Rollouts a task.",
	"Iteration.state":               "running, done or cancelled.",
	"Iteration.created_at":          "When it was started.",
	"Iteration.ended_at":            "When its last trajectory came to its end.",
	"Progress.trajectories":         "Trajectories by state; states without any are left out.",
	"Progress.turns":                "Committed turns.",
	"Progress.teacher_turns":        "Turns that the teacher executed.",
	"Progress.labels_had":           "Labels that are there.",
	"Progress.labels_owed":          "Labels that are asked for.",
	"Progress.labels_missing":       "Labels that cannot be had.",
	"Progress.submitted":            "Trajectories with a valid submission.",
	"Progress.resolved":             "Trajectories that are resolved: submitted and passed.",
	"Progress.passed_unsubmitted":   "Trajectories whose patch passes and was never submitted: not resolved.",
	"Progress.verified":             "Trajectories with a verdict that is no infrastructure error.",
}

var schedulingMeanings = map[string]string{
	"Run.priority":        "The highest is claimed first; runs of one priority share the slots evenly.",
	"Run.quota":           "How many of its trajectories workers may hold at a time; 0: as many as there are slots.",
	"Run.paused":          "Why, and since when, nothing of it is claimed; absent: it goes on.",
	"Iteration.paused":    "Its own pause; absent: it goes on, unless its run is paused.",
	"Pause.reason":        "user, budget or disk.",
	"Pause.text":          "Why, in words; may be empty.",
	"Pause.since":         "When it began.",
	"Worker.name":         "Its name, as attempts have it.",
	"Worker.machine":      "Host name of its machine.",
	"Worker.process":      "Its process id there.",
	"Worker.docker_hosts": "The engines of its sandboxes.",
	"Worker.rollouts":     "Trajectories that it rolls out at once.",
	"Worker.ahead":        "Further ones that it makes ready meanwhile.",
	"Worker.version":      "Version of relabel.",
	"Worker.state":        "working; draining: it claims nothing more and ends with what it has; silent: not heard of for half a minute.",
	"Worker.held":         "Trajectories that it owns now.",
	"Worker.started_at":   "When it started.",
	"Worker.seen_at":      "When it was last heard of.",
}

var trajectoryMeanings = map[string]string{
	"TrajectoryPage.items":            "The trajectories, as they are sorted.",
	"TrajectoryPage.next":             "Pass it as after to get the next page; empty at the end.",
	"TrajectoryPage.previous":         "Pass it as before to get the previous page; empty at the beginning.",
	"TrajectoryPage.total":            "How many the filter lets through.",
	"TrajectoryPage.exact":            "false: there are more than total, which is not counted further.",
	"TrajectoryPage.of":               "How many trajectories the runs and iterations asked for have in all.",
	"TextPage.items":                  "Trajectories that hold the text, as they are sorted.",
	"TextPage.next":                   "Pass it as after to go on behind the last trajectory that was looked through; empty when all were.",
	"TextPage.searched":               "How many trajectories were looked through for this page, whether they hold the text or not.",
	"TextPage.bytes":                  "How many bytes of their texts.",
	"TextPage.total":                  "How many the filter lets through, on all pages.",
	"TextPage.exact":                  "false: there are more than total, which is not counted further.",
	"TextPage.of":                     "How many trajectories the runs and iterations asked for have in all.",
	"TextFound.trajectory":            "The trajectory.",
	"TextFound.matches":               "How often the text stands in it.",
	"TextFound.places":                "In how many of its turns and of the texts beside them.",
	"TextFound.first":                 "The first matches, at most three, one of each turn or text.",
	"Match.t":                         "The turn; absent: in none of them.",
	"Match.executor":                  "Who acted in the turn.",
	"Match.place":                     "Where: thought, the name of an argument, label and either of them, observation, the task, failure, patch or test output.",
	"Match.before":                    "What stands before it.",
	"Match.match":                     "The text as it is written there.",
	"Match.after":                     "What stands after it.",
	"Trajectory.id":                   "Its id.",
	"Trajectory.run_id":               "The run.",
	"Trajectory.iteration_id":         "The iteration.",
	"Trajectory.task_id":              "The task.",
	"Trajectory.instance_id":          "The task's name.",
	"Trajectory.iteration":            "Number i of the iteration.",
	"Trajectory.kind":                 "The iteration's kind: collect or evaluate.",
	"Trajectory.generation":           "Which rollout of its task it is, from 0.",
	"Trajectory.state":                "queued, running, labelling, verifying, done, failed or cancelled.",
	"Trajectory.attempt":              "The current attempt; 0 before the first.",
	"Trajectory.executors":            "b1…bT as they were drawn, a letter a turn up to Tmax: T teacher, s student.",
	"Trajectory.kappa":                "κ, the length of the student's prefix in turns, of an aggrevate round.",
	"Trajectory.turns":                "Committed turns.",
	"Trajectory.end_reason":           "Why the rollout ended: finish, max_turns, context, wall_clock or no_call.",
	"Trajectory.failure":              "Why it failed: environment, image_missing, endpoint, verifier, secret or internal. None is the agent's doing.",
	"Trajectory.failure_detail":       "More about the failure.",
	"Trajectory.submitted":            "Whether there is a valid submission: a finish action and a patch that applies. Absent before the end.",
	"Trajectory.passed":               "Whether the patch passes the tests, submitted or not; absent without a verdict.",
	"Trajectory.protections":          "Version of the verifier's protections that the verdict was found under; 0: before versions were kept; absent without a verdict.",
	"Trajectory.resolved":             "Submitted and passed; absent without a verdict.",
	"Trajectory.verdict":              "What the tests said, submitted or not: passed, failed, error (the infrastructure's, never the agent's: no verdict, and none will come) or none (not yet, or cancelled).",
	"Trajectory.verdict_reason":       "Why it passed or not: passed, tests (one did not pass), tests_timed_out, tests_did_not_finish, tests_tampered, empty_patch, patch_does_not_apply or patch_unsafe; absent without a verdict.",
	"Trajectory.labels_had":           "Turns whose label is there.",
	"Trajectory.labels_owed":          "Turns whose label is still to come.",
	"Trajectory.labels_missing":       "Labels that could not be had.",
	"Trajectory.tokens":               "Tokens of the executed actions and the labels, prompts and answers together.",
	"Trajectory.ribbon":               "A letter a committed turn: T where the teacher executed; where the student did, a when its action agrees with the label, d when it differs, s while there is no label to compare it with.",
	"Trajectory.first_differs":        "The first turn whose label differs from the student's action; absent where none does.",
	"Trajectory.environment_failures": "Attempts that ended because a sandbox or the verifier's broke.",
	"Trajectory.agreement":            "Share, 0 to 1, of student turns whose action equals the label; absent without any.",
	"Trajectory.flags":                "The flags of its reviews, each once.",
	"Trajectory.created_at":           "When it was drawn.",
	"Trajectory.started_at":           "When it was first claimed.",
	"Trajectory.ended_at":             "When it came to its end.",
	"Attempt.number":                  "The attempt's number, from 1.",
	"Attempt.worker":                  "The worker process that made it.",
	"Attempt.docker_host":             "The container engine.",
	"Attempt.container":               "The sandbox's container id.",
	"Attempt.started_at":              "When it was claimed.",
	"Attempt.ended_at":                "When it ended.",
	"Attempt.outcome":                 "done, failed, released, lost, environment (its sandbox broke), diverged (a replay came to another state) or cancelled.",
	"Attempt.reason":                  "Why, where it was not done.",
	"Attempt.continued_by":            "The attempt that replayed this one and took its turns over.",
	"Verdict.passed":                  "Whether every FAIL_TO_PASS and PASS_TO_PASS test passed, submitted or not. False and without meaning where infra is set.",
	"Verdict.protections":             "Version of the verifier's protections; 0: before versions were kept.",
	"Verdict.dropped":                 "Parts of the submission that were not graded, 100 at most; absent: none.",
	"Verdict.dropped_count":           "How many parts were not graded, those not named included.",
	"DroppedPath.path":                "Path in the repository.",
	"DroppedPath.reason":              "Why it was not graded.",
	"Verdict.reason":                  "passed, tests, empty_patch, patch_unsafe, patch_does_not_apply, tests_timed_out, tests_did_not_finish or tests_tampered.",
	"Verdict.tests":                   "How each of those tests ended: PASSED, FAILED, ERROR, SKIPPED, XFAIL, XPASS or ABSENT.",
	"Verdict.infra":                   "An infrastructure error: the tests could not be run properly. Never a failure of the agent.",
	"Verdict.millis":                  "Milliseconds that verification took.",
	"Verdict.at":                      "When the verdict was found.",
}

var turnMeanings = map[string]string{
	"Action.policy_id":        "The policy whose action it is.",
	"Action.status":           "owed: asked for. had: it is there. missing: it cannot be had; reason says why.",
	"Action.reason":           "Why it is missing.",
	"Action.finish_reason":    "Why the model stopped, in the server's word.",
	"Action.refusal":          "The model's refusal, where it declined.",
	"Action.parse":            "How its calls were understood: ok, no_call, malformed_arguments, unknown_tool, cut_by_length or refused.",
	"Action.read_as":          "How calls or reasoning that stood in the text were read: function_tags, tool_call_json, bare_json, think_tags, tag_escapes. Absent where the server took its answer apart itself.",
	"Action.not_given":        "What was asked of the server beside the message and did not come: token_ids, prompt_token_ids, logprobs.",
	"Action.token_ids":        "Ids of the sampled tokens, where the server gives them.",
	"Action.prompt_token_ids": "Ids of the prompt's tokens, where the server gives them. Only where one state is shown: in a list they would be as long as all its states together.",
	"Action.logprobs":         "Natural logarithms of the sampled tokens' probabilities, aligned with token_ids.",
	"Action.usage":            "Tokens, as the server counts.",
	"Action.model":            "The model that the server says it ran.",
	"Action.fingerprint":      "The server's fingerprint of what it ran.",
	"Observation.call_id":     "Id of the call that it answers: call_<turn>_<k>; empty without a call.",
	"Observation.tool":        "The tool's name, as called.",
	"Observation.content":     "What the models see of it.",
	"Observation.exit_code":   "Exit code, of execute_bash.",
	"Observation.failed":      "Whether the tool refused or failed.",
	"Observation.millis":      "Milliseconds that it took.",
}
