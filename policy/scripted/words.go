package scripted

// thoughts are the sentences before calls: the teacher's by step, and the student's by mistake.
var thoughts = map[string][]string{
	"look":      {"I start with a look at the layout of the repository.", "Let me see the layout before I read any code."},
	"search":    {"Now I look for the code that the issue is about.", "A search should show where this is implemented and used."},
	"read":      {"I read the code in question closely.", "This is the part that has to change; I read it first."},
	"reproduce": {"Before I edit I check how the tests behave now.", "A test run before the change gives me something to compare with."},
	"apply":     {"The editor cannot make this change, so I apply it as a patch and look at the result."},
	"test":      {"All changes are in place. I run the tests again.", "The edit is complete; the tests should show whether it works."},
	"review":    {"Before I finish I look at the whole change.", "I review the diff to make sure that it has nothing else."},
	"done":      {"The change is complete and reviewed.", "Everything that the issue asks for is in place."},
	"reset":     {"Some of these changes do not belong here. I restore the commit and apply the whole change.", "That edit was wrong. I restore the commit and apply the whole change."},
	"stuck":     {"I cannot make the change here, so I stop."},

	"write": {"I write what I need into a file.", "A file first, which the next command uses."},
	"run":   {"Everything is in place. I run it.", "Now the work itself."},

	"structure": {"I start with the structure of the repository.", "First I look at which files there are."},
	"find":      {"The issue mentions this name, so I look for it here.", "I expect the code in question in this file."},
	"import":    {"The imports show where names come from.", "I look at what this file imports."},
	"exit":      {"I have seen enough to answer.", "The search can end here."},
	"answer":    {"These are the places that a fix has to change, the most probable one first:", "A fix changes these functions, I think:"},

	"wander": {"Let me look around some more.", "I should get an overview first.", "Maybe there is a hint somewhere in here."},
	"guess":  {"I think I found it: this should fix the issue.", "This looks like the right place for a fix."},
	"repeat": {"Let me try that again.", "I run the same step again."},
	"talk": {"I believe the problem lies in how the input is handled, and a careful fix should take care of it.",
		"To resolve the issue one would first find the function in question and then correct its condition."},
	"early": {"I think this is done.", "The issue seems to be resolved."},
}
