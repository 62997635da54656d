package main

import (
	"context"
	"fmt"

	"relabel"
	"relabel/api"
	"relabel/envs/docker"
	"relabel/envs/fleet"
)

// room says whether there is room for new work: an engine that works, and disk space.
type room struct {
	host    *fleet.Fleet
	data    string // relabel's data folder
	minFree int64
}

// check fails with CodeUnavailable while nothing new is to be begun.
func (r room) check(ctx context.Context) error {
	if err := r.disk(); err != nil {
		return err
	}
	return r.host.Room(ctx)
}

// disk fails while too little is free where relabel keeps its data.
func (r room) disk() error {
	if r.minFree <= 0 {
		return nil
	}
	free, err := docker.FreeBytes(r.data)
	if err == nil && free < r.minFree {
		err = relabel.Errorf(relabel.CodeUnavailable, "%d MiB are free in the data folder %s, and %d MiB are to stay free: nothing new is begun until they are", free>>20, r.data, r.minFree>>20)
	}
	return err
}

// ready says how the engines and the disk are. One engine that works is enough.
func (r room) ready(ctx context.Context) []api.Check {
	r.host.Look(ctx)
	engines := api.Check{Name: "docker", OK: true}
	for _, h := range r.host.Health() {
		if h.Problem != "" {
			engines.Detail += fmt.Sprintf("%s: %s. ", h.Name, h.Problem)
		}
	}
	if err := r.host.Room(ctx); err != nil {
		engines.OK = false
	}
	disk := api.Check{Name: "disk", OK: true}
	if err := r.disk(); err != nil {
		disk = api.Check{Name: "disk", Detail: message(err)}
	}
	return []api.Check{engines, disk}
}

// hostsNow names the engines, with what is wrong with those that get nothing new.
func hostsNow(host *fleet.Fleet) (names []string) {
	for _, h := range host.Health() {
		name := h.Name
		if h.Problem != "" {
			name += " (out: " + h.Problem + ")"
		}
		names = append(names, name)
	}
	return names
}

// sayDisk logs that the disk space of the data folder became too little, or enough again.
func (w *work) sayDisk() {
	err := w.room.disk()
	switch {
	case err != nil && !w.noDisk:
		w.log.Warn().Err(err).Msg("nothing new is begun")
	case err == nil && w.noDisk:
		w.log.Info().Msg("there is disk space again")
	}
	w.noDisk = err != nil
}
