package reward

import "testing"

func TestARewardFileIsANumberOrAnObjectOfNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"0": 0, " 0.5\n": 0.5, `{"reward":1,"speed":7}`: 1, `{"speed":0.25}`: 0.25} {
		if got, err := parseJSON([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"null", `{"reward":null}`, `{"reward":1,"speed":null}`, `{"speed":null}`, "{}", "[1]", `"1"`, "true", "", "1 1", `{"a":1,"b":1}`} {
		if got, err := parseJSON([]byte(text)); err == nil {
			t.Errorf("%s: reward %v", text, got)
		}
	}
}
