package schedule_test

// Drawn by the first release; the call seeds were computed a second time outside Go.
const (
	goldenMixture = "TsssTTTsTTTTTTTTTTsTTsTTsTTTsTTssTTTsTTT"
	goldenKappas  = "22 34 33 37 36 38 33 33 "
	goldenSeeds   = "1726222163 1404331408 814255687"
)

const goldenWalk = `[task-000 task-002 task-003] 3 of 7 tasks of permutation 1 drawn
[task-004 task-005 task-006] 6 of 7 tasks of permutation 1 drawn
[task-001 task-004 task-005] 2 of 7 tasks of permutation 2 drawn, which began in this iteration: the one before is exhausted
[task-000 task-001 task-002] 5 of 7 tasks of permutation 2 drawn
`
