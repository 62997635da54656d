package relabel

// View is a format of an export's rows.
type View string

// The views. Those after ViewPreference are only written for a trainer (ExportForm.For).
const (
	ViewMessages         View = "messages"          // a row is a labelled state as chat messages
	ViewLinear           View = "linear"            // a row is one sequence of token ids
	ViewPacked           View = "packed"            // a row is a bin of sequences
	ViewTree             View = "tree"              // a row is a bin of token trees
	ViewPreference       View = "preference"        // a row is a state with its label and the executed action, which differs
	ViewArrow            View = "arrow"             // bare rows of linear, as datasets' save_to_disk writes them
	ViewPromptCompletion View = "prompt_completion" // a row is a state and its label, as messages or text
	ViewChat             View = "chat"              // a line is a conversation with flags of the messages that are trained on
)

// Views are the views that hold every label and need no trainer, in the order in which an export writes them; AllViews
// also has the preference view and those that are written for a trainer.
var (
	Views    = []View{ViewMessages, ViewLinear, ViewPacked, ViewTree}
	AllViews = []View{ViewMessages, ViewLinear, ViewPacked, ViewTree, ViewPreference, ViewArrow, ViewPromptCompletion, ViewChat}
)

// HasIDs reports whether rows of the view contain token ids with labels.
func (v View) HasIDs() bool {
	return v == ViewLinear || v == ViewPacked || v == ViewTree || v == ViewArrow
}

// IsParquet reports whether the view's files are Parquet, which load_dataset finds by the view's name.
func (v View) IsParquet() bool { return v != ViewArrow && v != ViewChat }

// ForTrainer reports whether the view is only written for a trainer.
func (v View) ForTrainer() bool {
	return v == ViewArrow || v == ViewPromptCompletion || v == ViewChat
}
