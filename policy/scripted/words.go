package scripted

// say puts one of several sentences before an action's calls.
func say(d *dice, sentences []string, calls ...call) action {
	return action{thought: d.pick(sentences), calls: calls}
}

// What the teacher says at each step.
var (
	thoughtsLook = []string{
		"I start with a look at how the repository is laid out.",
		"First I want to know what is where in this repository.",
		"Let me see the layout before I read any code.",
	}
	thoughtsSearch = []string{
		"Now I look for the code that the issue is about.",
		"A search should show where this is implemented and used.",
		"I search for the place in the code that matters here.",
	}
	thoughtsRead = []string{
		"I read the code in question closely.",
		"This is the part that has to change; I read it first.",
		"Before I change anything I want to read these lines.",
	}
	thoughtsReproduce = []string{
		"I run the tests that concern this once, to know how things stand before my change.",
		"Before I edit I check how the tests behave now.",
		"A test run before the change gives me something to compare with.",
	}
	thoughtsApply = []string{
		"This part is not a plain replacement of text, so I apply it as a patch and look at the outcome.",
		"The editor does not fit here; I let git make this change and show the tree.",
	}
	thoughtsTest = []string{
		"All changes are in place. I run the tests again.",
		"Now I check the change with the tests.",
		"The edit is complete; the tests should say whether it holds.",
	}
	thoughtsReview = []string{
		"Before I finish I look at the whole change once more.",
		"I review the diff, so that nothing else slips in.",
	}
	thoughtsDone = []string{
		"The change is complete and reviewed.",
		"Everything that the issue asks for is in place.",
	}
	thoughtsDoubt = []string{
		"Something was changed that I did not plan. I look at the state of the tree.",
		"I am not sure what the files look like by now, so I ask git.",
		"Earlier steps may have left something behind; I check what differs from the commit.",
	}
	thoughtsReset = []string{
		"Some of these changes do not belong here. I start from the commit and apply the change in one go.",
		"That edit was wrong. I restore the commit and apply the whole change.",
	}
	thoughtsStuck = []string{
		"I cannot put the change in place here, so I stop.",
	}
)

// thoughtsEdit are for an edit of one file.
func thoughtsEdit(path string) []string {
	return []string{
		"I make the change in " + path + ".",
		"The fix belongs in " + path + "; I edit it there.",
		"Now I adapt " + path + " accordingly.",
	}
}

// What the student says, whatever it does then.
var (
	thoughtsWander = []string{
		"Let me look around some more.",
		"I should get an overview first.",
		"Maybe there is a hint somewhere in here.",
		"I check what else there is.",
	}
	thoughtsGuess = []string{
		"I think I found it: this should fix the issue.",
		"This looks like the right place for a fix.",
		"A small change here might be enough.",
	}
	thoughtsRepeat = []string{
		"Let me try that again.",
		"I run the same step once more.",
	}
	thoughtsText = []string{
		"I believe the problem lies in how the input is handled, and a careful fix should take care of it.",
		"To resolve the issue one would first find the function in question and then correct its condition.",
		"I am going to think about this before I do anything.",
	}
	thoughtsEarly = []string{
		"I think this is done.",
		"The issue seems to be resolved.",
	}
)
