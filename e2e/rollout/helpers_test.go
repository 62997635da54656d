package rollout

import "relabel/e2e/e2etest"

var (
	noError   = e2etest.NoError
	listenFor = e2etest.Listen
	write     = e2etest.Write
	git       = e2etest.Git
)
