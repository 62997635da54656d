package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"relabel"
)

// record is what a run was made of and what came out, by step. A step that is in it is not done again.
type record struct {
	Made     madeOf                `json:"made_of"`
	Images   map[string]string     `json:"images"`    // by seed
	Students map[string]student    `json:"students"`  // by seed, arm and round
	Results  map[string]evaluation `json:"evaluated"` // by seed, arm and round

	file string
}

// madeOf is what all steps depend on: results of other settings are not mixed.
type madeOf struct {
	Relabel     string `json:"relabel"` // version of the program
	Torch       string `json:"torch"`
	Rounds      int    `json:"rounds"` // tasks are imported for all of them
	BaseLabels  int    `json:"base_labels"`
	BaseUpdates int    `json:"base_updates"`
	Labels      int    `json:"labels"`
	Updates     int    `json:"updates"`
	Eval        int    `json:"eval"`
}

// student is a checkpoint and what it was trained on.
type student struct {
	Checkpoint string `json:"checkpoint"` // folder below --out
	SHA256     string `json:"sha256"`
	// Policy is the version that was evaluated; without an evaluation, the first one. From is the Policy of
	// the student that the training started from, "" in the first round.
	Policy   relabel.ID `json:"policy"`
	From     string     `json:"trained_from,omitempty"`
	Run      relabel.ID `json:"run"`
	Export   string     `json:"export"` // folder
	ExportID relabel.ID `json:"export_id"`
	// Epochs are the passes of this round's training over each export that it used, by id.
	Epochs map[relabel.ID]float64 `json:"epochs"`
	// Manifest is the SHA-256 of the export's manifest. Turns and Trajectories are what was rolled out
	// for it, Labels what it has of that.
	Manifest       string          `json:"manifest_sha256"`
	Turns          int             `json:"turns"`
	Trajectories   int             `json:"trajectories"`
	Labels         int             `json:"labels"`
	Excluded       map[string]int  `json:"excluded"`
	Exports        []string        `json:"exports"` // all that it was trained on, folders
	CollectSeconds float64         `json:"collect_seconds"`
	TrainSeconds   float64         `json:"train_seconds"`
	Training       json.RawMessage `json:"training"` // metadata of train.py
}

// name is the seed, arm and round of the student, which its checkpoint and its policy have.
func (s student) name() string { return filepath.Base(s.Checkpoint) }

// openRecord reads the record of a folder. CodeConflict if it has other settings.
func openRecord(dir string, made madeOf) (*record, error) {
	r := &record{Made: made, Images: map[string]string{}, Students: map[string]student{}, Results: map[string]evaluation{},
		file: filepath.Join(dir, "record.json")}
	text, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, r.save()
	}
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err == nil && r.Made != made {
		err = relabel.Errorf(relabel.CodeConflict, "%s was made with other settings or versions: choose another --out, or remove it", dir)
	}
	return r, err
}

// save writes the record aside and renames it.
func (r *record) save() error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	aside := r.file + ".new"
	if err := os.WriteFile(aside, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(aside, r.file)
}
