package relabel

import "strings"

// modeFlag begins the flags that follow from computed failure modes. Flags of reviews have no colon.
const modeFlag = "mode:"

// The flags of done trajectories beside those of their modes.
const (
	ToolUseErrorFlag = modeFlag + "tool_use_error"
	NoModeFlag       = modeFlag // the mode is not computed; no request can name it
)

// ModeFlags lists the flags that requests can name.
func ModeFlags() []string {
	var flags []string
	for _, modes := range [][]FailureMode{NotSubmittedModes, SubmittedModes} {
		for _, m := range modes {
			flags = append(flags, m.Flag())
		}
	}
	return append(flags, ToolUseErrorFlag)
}

// Flag is the flag of the trajectories with a computed mode.
func (m FailureMode) Flag() string { return modeFlag + string(m) }

// CutModeFlag returns what follows mode: in a flag, and whether it begins so.
func CutModeFlag(flag string) (name string, is bool) { return strings.CutPrefix(flag, modeFlag) }
