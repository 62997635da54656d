package web_test

import (
	"net/url"
	"testing"
)

// A page is found by its run's name as by its id, and its links and forms lead on.
func TestPagesOfARunAreFoundByItsName(t *testing.T) {
	t.Parallel()
	s := start(t)
	const name = "round 1/β"
	s.begin(name, "sT")
	byName, byID := "/runs/"+url.PathEscape(name), "/runs/"+s.run.ID.String()
	contains(t, s.get(200, byName), "round 1/β", `href="`+byID+`/start"`, "/v1"+byID+"/events")
	for _, below := range []string{"/tasks", "/start", "/export", "/pause", "/cancel", "/verify", "/delete"} {
		contains(t, s.get(200, byName+below), "round 1/β")
	}
	contains(t, s.get(200, byName+"/pause"), `action="`+byName+`/pause"`)
	contains(t, s.get(200, "/exports?run="+url.QueryEscape(name)), "round 1/β")
	s.get(404, "/runs/round")
}
