package rollout

import "relabel/e2e/e2etest"

var (
	eventually = e2etest.Eventually
	noError    = e2etest.NoError
	listenFor  = e2etest.Listen
	write      = e2etest.Write
	git        = e2etest.Git
)
