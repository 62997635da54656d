# Reads documents, one per line, and checks each with Harbor's own validator. Prints one line per document: its
# errors, the document as Harbor's models write it, and the texts that Harbor finds in it, as code points.
import json
import sys

from harbor.models.trajectories import Trajectory
from harbor.utils.trajectory_validator import TrajectoryValidator

validator = TrajectoryValidator()
points = lambda s: [ord(c) for c in s]
for line in sys.stdin:
    document = json.loads(line)
    validator.validate(document)
    trajectory = Trajectory(**document)
    texts = []
    for step in trajectory.steps:
        texts += [points(step.message), points(step.reasoning_content or "")]
        texts += [points(r.content or "") for r in (step.observation.results if step.observation else [])]
    print(json.dumps({"errors": validator.errors, "texts": texts, "again": trajectory.model_dump(exclude_none=True)}))
