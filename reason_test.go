package relabel_test

import (
	"fmt"
	"strings"
	"testing"

	"relabel"
)

func TestAReasonThatIsRareInEachIterationMayBeFrequentInAll(t *testing.T) {
	t.Parallel()
	var sum []relabel.ReasonCount
	for iteration := range 5 {
		for i := range relabel.MostReasons {
			sum = relabel.AddReasons(sum, []relabel.ReasonCount{{Reason: fmt.Sprint(iteration, " ", i), Count: 2}})
		}
		sum = relabel.AddReasons(sum, []relabel.ReasonCount{{Reason: "too long", Count: 1}})
	}
	if text := relabel.ReasonText(sum); !strings.HasPrefix(text, "5 x too long; 2 x 0 0; ") || !strings.HasSuffix(text, "; 41 other reasons") {
		t.Errorf("%s", text)
	}
}
