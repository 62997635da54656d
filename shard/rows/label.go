package rows

import (
	"fmt"
	"strconv"

	"relabel"
	"relabel/chat"
)

// LabelText returns the label of a turn as label_json. Weights that are nil become null: every
// transition then has weight 1.
func LabelText(turn int, label relabel.Message, weights []float32) string {
	text := fmt.Appendf(nil, `{"turn":%d,"message":`, turn)
	text = chat.AppendMessage(text, label)
	if weights == nil {
		return string(append(text, `,"weights":null}`...))
	}
	text = append(text, `,"weights":[`...)
	for i, w := range weights {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendFloat(text, float64(w), 'g', -1, 32)
	}
	return string(append(text, "]}"...))
}
