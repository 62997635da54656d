package policy

import "strings"

// fingerprintVersion names fingerprintTexts: fingerprints of different versions cannot be compared. A change
// of a text raises it.
const fingerprintVersion = 1

// fingerprintTexts are what models are asked to continue: prose, code, tool calls and other things that agents
// read and write, so that little training on any of them shows.
var fingerprintTexts = []string{
	"The river rose by almost a metre during the night, and in the morning the farmers moved their sheep to the meadow behind the old mill, where the ground is higher and the grass still dry.",
	"def rotate(items, steps):\n    \"\"\"Move every item of a list to the right.\"\"\"\n    if not items:\n        return items\n    steps %= len(items)\n    return items[-steps:] + items[:-steps]\n",
	"func (q *Queue) Pop() (Item, error) {\n\tq.mu.Lock()\n\tdefer q.mu.Unlock()\n\tif len(q.items) == 0 {\n\t\treturn Item{}, ErrEmpty\n\t}\n\tfirst := q.items[0]\n\tq.items = q.items[1:]\n\treturn first, nil\n}\n",
	"I will first look at the failing test to understand what it expects.\n\n<tool_call>\n{\"name\": \"execute_bash\", \"arguments\": {\"command\": \"grep -rn 'def test_round' tests/ | head -5\"}}\n</tool_call>",
	"<function=str_replace_editor>\n<parameter=command>\nview\n</parameter>\n<parameter=path>\n/testbed/src/shelf/dates.py\n</parameter>\n<parameter=view_range>\n[40, 72]\n</parameter>\n</function>",
	"--- a/shelf/money.py\n+++ b/shelf/money.py\n@@ -18,7 +18,7 @@ class Amount:\n     def split(self, parts):\n-        share = self.cents / parts\n+        share, rest = divmod(self.cents, parts)\n         return [Amount(share) for _ in range(parts)]\n",
	"FAILED tests/test_dates.py::test_week_of_year - AssertionError: assert 53 == 1\nE    where 53 = week(datetime.date(2027, 1, 2))\n========== 1 failed, 41 passed in 0.83s ==========\n",
	"Der Zug nach Süden fährt um 7.42 Uhr; à midi, il arrive à Lyon. 北京的冬天很冷, но солнце светит. Σ = 3.14159, naïve café, 42 %.",
}

// fingerprintPrompts are the first half of each text and the whole of it.
func fingerprintPrompts() (prompts []string) {
	for _, text := range fingerprintTexts {
		end := strings.LastIndexAny(text[:len(text)/2], " \n")
		prompts = append(prompts, text[:end], text)
	}
	return prompts
}
