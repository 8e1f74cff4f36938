extension UndoManager {
  /// What the group that would be undone is called; empty without a name.
  public var undoActionName: String { lastGroup?.name ?? "" }
  /// What the group that would be redone is called; empty without a name.
  public var redoActionName: String { redoStack.last?.name ?? "" }
  /// What a menu's item would say that undoes: "Undo Typing".
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// What a menu's item would say that redoes: "Redo Typing".
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// "Undo" with a name. In English; a program that speaks others asks for the name and says it itself.
  public func undoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Undo" : "Undo \(name)" }
  /// "Redo" with a name. In English; a program that speaks others asks for the name and says it itself.
  public func redoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Redo" : "Redo \(name)" }

  /// Names the group that is being made, or the last one if none is: what a menu would show. Empty takes the name away. A
  /// group without a name has that of the last group in it.
  public func setActionName(_ name: String) { change { $0.name = name } }

  /// Whether what the last group did can be lost without asking anybody, such as a text's selection.
  public func setActionIsDiscardable(_ isDiscardable: Bool) { change { $0.isDiscardable = isDiscardable } }
  /// Whether the group that would be undone is said to be discardable.
  public var undoActionIsDiscardable: Bool { lastGroup?.isDiscardable ?? false }
  /// Whether the group that would be redone is said to be discardable.
  public var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

  private var lastGroup: UndoGroup? { open.last ?? implicit ?? undoStack.last }

  private func change(_ body: (inout UndoGroup) -> Void) {
    if let innermost = open.indices.last { return body(&open[innermost]) }
    if implicit == nil, let last = undoStack.indices.last { return body(&undoStack[last]) }
    var group = implicit ?? UndoGroup()
    body(&group)
    implicit = group
  }
}
