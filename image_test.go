package relabel

import "testing"

func TestLayersThatImagesShareAreCountedOnce(t *testing.T) {
	base, a, b := Layer{"base", 100}, Layer{"a", 10}, Layer{"b", 20}
	needs := []ImageNeed{
		{Image: "1", Tasks: 3, State: ImageAvailable, Bytes: 110, Layers: []Layer{base, a}},
		{Image: "2", Tasks: 1, State: ImageAvailable, Bytes: 120, Layers: []Layer{base, b}},
		{Image: "3", Tasks: 1, State: ImagePresent, Bytes: 300, Layers: []Layer{{"own", 300}}},
		{Image: "4", Tasks: 1, State: ImageMissing},
		{Image: "5", Tasks: 1},
	}
	got := SumImages(needs)
	if got.Images != 5 || got.Tasks != 7 || got.Available != 130 || got.Present != 300 || got.Separate != 530 {
		t.Errorf("got %+v", got)
	}
	if got.States[ImageAvailable] != 2 || got.States[ImageMissing] != 1 || len(got.States) != 3 {
		t.Errorf("states: %v", got.States)
	}
	set := LayerSet{}
	set.Add(needs[0].Layers)
	set.Add(needs[1].Layers)
	if freed := set.Remove(needs[0].Layers); freed != 10 {
		t.Errorf("without the first image %d bytes are free; the base is still used", freed)
	}
	if freed := set.Remove(needs[1].Layers); freed != 120 {
		t.Errorf("without both %d bytes are free", freed)
	}
}
