package main

import "relabel/e2e/e2etest"

var (
	noError    = e2etest.NoError
	eventually = e2etest.Eventually
)
