package trainers

import "relabel"

var megatronBridge = Trainer{
	Name:   "megatron-bridge",
	Run:    "Megatron-Bridge, main of 2026-08-22 (067f987d)",
	Routes: []Route{{View: relabel.ViewPacked, Files: []string{"megatron_bridge.sh"}, Command: "sh megatron_bridge.sh BRIDGE RECIPE MODEL OUT"}},
}
