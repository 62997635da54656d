package tasks

import (
	"cmp"
	"fmt"
	"strings"
)

// newFileDiff is the diff that adds a file of text.
func newFileDiff(name, content string) string {
	end := ""
	if !strings.HasSuffix(content, "\n") {
		end = "\n\\ No newline at end of file\n"
	}
	content = strings.TrimSuffix(content, "\n")
	count := strings.Count(content, "\n") + 1
	return fmt.Sprintf("diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n+%s%s",
		name, name, name, count, strings.ReplaceAll(content, "\n", "\n+"), cmp.Or(end, "\n"))
}
