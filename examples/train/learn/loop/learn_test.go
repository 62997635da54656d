package main

import (
	"maps"
	"reflect"
	"testing"

	"relabel"
	"relabel/api"
)

func TestAStudentIsRegisteredWithItsOwnNameAndRound(t *testing.T) {
	parent, export := relabel.NewID(), relabel.NewID()
	s := student{Checkpoint: "checkpoints/0-low-3", SHA256: "0123456789abcdef01", From: parent.String(), Epochs: map[relabel.ID]float64{export: 2.5}}
	p := s.policyAt("http://127.0.0.1:1/v1")
	if p.Name != "student-0-low-3" || p.Model != "0123456789abcdef" || p.TrainedFrom != parent.String() {
		t.Errorf("%+v", p)
	}
	if want := []api.NewTrainedOn{{Export: export, Epochs: new(2.5)}}; !reflect.DeepEqual(p.TrainedOn, want) {
		t.Errorf("trained on %+v", p.TrainedOn)
	}
}

func TestEpochsCountWhatOneTrainingTook(t *testing.T) {
	students := []student{{ExportID: relabel.NewID(), Labels: 6000}, {ExportID: relabel.NewID(), Labels: 1500}, {ExportID: relabel.NewID(), Labels: 1500}}
	got := epochs([]drawn{{9000}, {0}, {1800}}, students)
	if want := map[relabel.ID]float64{students[0].ExportID: 1.5, students[2].ExportID: 1.2}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
