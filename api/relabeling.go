package api

import "relabel"

// NewRelabeling says who is asked.
type NewRelabeling struct {
	Policy   string `json:"policy" name:"teacher" placeholder:"POLICY" minLength:"1" maxLength:"200" doc:"The labelling teacher: the policy's id, its name, or name@version."`
	Priority int    `json:"priority,omitempty" minimum:"-1000" maximum:"1000" doc:"Relabelings with the highest priority run first. Default 0."`
}

// Relabelings sums relabelings up.
type Relabelings struct {
	Items []relabel.RelabelProgress `json:"items" nullable:"false" doc:"One per labelling policy."`
}

// CancelRelabelings says whose relabelings are cancelled.
type CancelRelabelings struct {
	Policy string `json:"policy,omitempty" minLength:"1" maxLength:"200" doc:"Only those of this policy: its id, its name, or name@version. Default: all."`
}

// Cancelled counts what was cancelled.
type Cancelled struct {
	Cancelled int `json:"cancelled" doc:"How many relabelings were cancelled."`
}
