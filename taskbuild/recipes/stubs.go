package recipes

import "relabel/taskbuild"

func none(Tree) (taskbuild.Recipe, bool) { return taskbuild.Recipe{}, false }

var detectGo, detectCargo, detectMaven, detectGradle, detectNode = none, none, none, none, none
