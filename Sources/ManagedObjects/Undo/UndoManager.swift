/// Takes back what was done, and does it again, group by group.
///
/// A context with an ``ManagedObjectContext/undoManager`` registers its changes by itself: those of one `perform`, or up
/// to a ``ManagedObjectContext/processPendingChanges()``, are a group, unless ``beginUndoGrouping()`` and
/// ``endUndoGrouping()`` stand around several. What else was registered meanwhile belongs to the same group.
///
/// Used on one queue: that of the context. Source: Foundation's `UndoManager`, which Linux doesn't have.
public final class UndoManager {
  private struct Group {
    var actions: [() -> Void] = []
    var name = ""
  }

  private var undoStack: [Group] = []
  private var redoStack: [Group] = []
  private var current: Group?
  /// How to have those registered that keep changes to themselves until the end of an event.
  private var flushes: [ObjectIdentifier: () -> Void] = [:]
  private var disabled = 0

  /// How many groups are open.
  public private(set) var groupingLevel = 0
  /// Whether ``undo()`` is running.
  public private(set) var isUndoing = false
  /// Whether ``redo()`` is running.
  public private(set) var isRedoing = false
  /// How many groups can be undone at most, 0 for no limit.
  public var levelsOfUndo: Int {
    didSet { trim() }
  }

  /// Nothing to undo yet.
  public init(levelsOfUndo: Int = 0) { self.levelsOfUndo = levelsOfUndo }

  // MARK: Undoing

  /// Whether there is a group to undo.
  public var canUndo: Bool { !undoStack.isEmpty || current?.actions.isEmpty == false }
  /// Whether there is a group to redo.
  public var canRedo: Bool { !redoStack.isEmpty }
  /// What the group that would be undone is called.
  public var undoActionName: String { current?.name ?? undoStack.last?.name ?? "" }
  /// What the group that would be redone is called.
  public var redoActionName: String { redoStack.last?.name ?? "" }

  /// Takes the last group back. Nothing happens while a group is open, or within an undo or redo.
  public func undo() {
    guard prepare(), let group = undoStack.popLast() else { return }
    isUndoing = true
    run(group)
    isUndoing = false
  }

  /// Does again what was undone last. Nothing happens while a group is open, or within an undo or redo.
  public func redo() {
    guard prepare(), let group = redoStack.popLast() else { return }
    isRedoing = true
    run(group)
    isRedoing = false
  }

  private func prepare() -> Bool {
    guard groupingLevel == 0, !isUndoing, !isRedoing else { return false }
    flush()
    close()
    return true
  }

  private func run(_ group: Group) {
    current = Group(name: group.name)
    for action in group.actions.reversed() { action() }
    flush()
    close()
  }

  // MARK: Registering

  /// Whether what is registered can be undone.
  public var isUndoRegistrationEnabled: Bool { disabled == 0 }

  /// Registers no more, until ``enableUndoRegistration()`` has been called as often.
  public func disableUndoRegistration() {
    flush()
    disabled += 1
  }

  /// Registers again what is done from now on.
  public func enableUndoRegistration() {
    guard disabled > 0 else { return }
    flush()
    disabled -= 1
  }

  /// Registers how to take something back. What `handler` registers itself is what redoes it.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    register { [weak target] in
      if let target { handler(target) }
    }
  }

  /// Names the group that is being made: what a menu would show.
  public func setActionName(_ name: String) {
    if current == nil, groupingLevel == 0, let last = undoStack.indices.last {
      undoStack[last].name = name
    } else {
      current = current ?? Group()
      current?.name = name
    }
  }

  /// Begins a group, which everything up to ``endUndoGrouping()`` belongs to. Groups nest; the outermost one counts.
  public func beginUndoGrouping() {
    if groupingLevel == 0 {
      flush()
      endEvent()
    }
    groupingLevel += 1
  }

  /// Ends a group.
  public func endUndoGrouping() {
    guard groupingLevel > 0 else { return }
    if groupingLevel == 1 { flush() }
    groupingLevel -= 1
    endEvent()
  }

  /// Forgets everything that could be undone or redone.
  public func removeAllActions() {
    undoStack = []
    redoStack = []
    current = nil
  }

  func register(_ action: @escaping () -> Void) {
    guard isUndoRegistrationEnabled else { return }
    if !isUndoing, !isRedoing { redoStack = [] }
    current = current ?? Group()
    current?.actions.append(action)
  }

  /// Closes the group of an event, unless an open group or an undo goes on.
  func endEvent() {
    if !isUndoing, !isRedoing { close() }
  }

  private func close() {
    guard groupingLevel == 0, let group = current, !group.actions.isEmpty else { return }
    current = nil
    if isUndoing {
      redoStack.append(group)
    } else {
      undoStack.append(group)
      trim()
    }
  }

  // MARK: Contexts

  func follow(_ source: AnyObject, flush: @escaping () -> Void) { flushes[ObjectIdentifier(source)] = flush }
  func leave(_ source: AnyObject) { flushes[ObjectIdentifier(source)] = nil }

  private func flush() { for flush in flushes.values { flush() } }

  private func trim() {
    if levelsOfUndo > 0, undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
  }
}
