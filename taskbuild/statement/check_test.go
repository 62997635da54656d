package statement

import (
	"encoding/base64"
	"strings"
	"testing"

	"relabel/taskbuild"
)

func TestAStatementLeaksInNoOtherForm(t *testing.T) {
	c := newCheck(taskbuild.StatementRequest{Patch: `diff --git a/shelf.py b/shelf.py
--- a/shelf.py
+++ b/shelf.py
@@ -1,2 +1,3 @@
 def put(shelf, book):
-    return shelf.append(book)
+    if len(shelf) < shelf_limit and book['title']:
+        return shelf.append(book)
`}, false)
	const prose = "A full shelf takes more books\n\nWhen a shelf is full, a book that is put there should not be added, but it is.\n\n"
	if fault := c.of(prose); fault.says != "" {
		t.Fatal(fault)
	}
	const line = "if len(shelf) < shelf_limit and book['title']:"
	for name, leak := range map[string]string{
		"as it is":               line,
		"escaped for HTML":       "if len(shelf) &lt; shelf_limit and book[&#39;title&#39;]:",
		"with other quotes":      strings.NewReplacer("['", "[‘", "']", "’]").Replace(line),
		"escaped for Markdown":   `the value of shelf\_limit`,
		"with invisible letters": "the value of shelf\u200b_\u200blimit",
		"in wide letters":        "the value of ｓｈｅｌｆ＿ｌｉｍｉｔ",
		"in base64":              base64.StdEncoding.EncodeToString([]byte(line)),
	} {
		if fault := c.of(prose + leak); fault.reason != taskbuild.ReasonLeak {
			t.Errorf("%s: %+v", name, fault)
		}
	}
}
