import Foundation

/// Takes back what was done, and does it again, group by group.
///
/// A context with an ``ManagedObjectContext/undoManager`` registers its changes by itself: those of one `perform`, or up
/// to a ``ManagedObjectContext/processPendingChanges()``, are an event, and make a group, unless ``beginUndoGrouping()`` and
/// ``endUndoGrouping()`` stand around several. What else was registered meanwhile belongs to the same group. Groups nest;
/// the outermost one is what ``undo()`` takes back, ``undoNestedGroup()`` takes back the last one inside it.
///
/// Used on one queue: that of the context. Source: Foundation's `UndoManager`, which Linux doesn't have. Differences:
/// - A group that is begun in the middle of an event stands by itself, and not in the event's.
/// - Where Foundation raises an exception, nothing happens.
/// - A group in which nothing was registered leaves nothing to undo.
/// - There are no selectors and invocations, only closures, and no run loop modes.
public final class UndoManager {
  var undoStack: [UndoGroup] = []
  var redoStack: [UndoGroup] = []
  /// The group of the event, or of the undo or redo that is running.
  var implicit: UndoGroup?
  /// The groups that were begun and not ended, the innermost last.
  var open: [UndoGroup] = []
  /// How to have those registered that keep changes to themselves until the end of an event.
  private var flushes: [ObjectIdentifier: () -> Void] = [:]
  private var disabled = 0

  /// Whether ``undo()`` is running.
  public private(set) var isUndoing = false
  /// Whether ``redo()`` is running.
  public private(set) var isRedoing = false
  /// Whether what is registered in one event, outside of groups, makes a group; true unless set. Otherwise each
  /// registration outside of groups is one.
  public var groupsByEvent = true {
    didSet { if !groupsByEvent { endEvent() } }
  }
  /// How many groups can be undone at most, 0 for no limit. The oldest ones beyond that are forgotten.
  public var levelsOfUndo: Int {
    didSet { trim() }
  }

  /// Nothing to undo yet.
  public init(levelsOfUndo: Int = 0) { self.levelsOfUndo = levelsOfUndo }

  // MARK: Undoing

  /// Whether there is something to undo, in a group that is still open, too.
  public var canUndo: Bool {
    !undoStack.isEmpty || implicit?.isEmpty == false || open.contains { !$0.isEmpty }
  }
  /// Whether there is a group to redo.
  public var canRedo: Bool { !redoStack.isEmpty }

  /// Takes the last group back, after ending the one that is open. Nothing happens while several are open, one in another,
  /// or within an undo or redo.
  public func undo() {
    guard !isUndoing, !isRedoing, open.count <= 1 else { return }
    if open.count == 1 { endUndoGrouping() }
    undoNestedGroup()
  }

  /// Takes the last group back that has been ended: inside the group that is open, if one is. Nothing happens when
  /// something was registered after that, or within an undo or redo.
  ///
  /// Source: `undoNestedGroup()` of Foundation.
  public func undoNestedGroup() {
    guard !isUndoing, !isRedoing else { return }
    flush()
    endEvent()
    let group: UndoGroup?
    if let innermost = open.indices.last {
      group = open[innermost].removeLastGroup()
    } else {
      group = undoStack.popLast()
    }
    guard let group else { return }
    tell(Self.checkpointNotification)
    tell(Self.willUndoChangeNotification)
    isUndoing = true
    let inverse = run(group)
    isUndoing = false
    if !inverse.isEmpty { redoStack.append(inverse) }
    tell(Self.didUndoChangeNotification)
  }

  /// Does again what was undone last; what takes it back is a group, inside the one that is open, if one is. Nothing
  /// happens within an undo or redo.
  public func redo() {
    guard !isUndoing, !isRedoing else { return }
    flush()
    endEvent()
    guard let group = redoStack.popLast() else { return }
    tell(Self.checkpointNotification)
    tell(Self.willRedoChangeNotification)
    isRedoing = true
    let inverse = run(group)
    isRedoing = false
    close(inverse)
    tell(Self.didRedoChangeNotification)
  }

  /// Runs a group's actions, the last first, and returns what they registered.
  private func run(_ group: UndoGroup) -> UndoGroup {
    let outside = open
    open = []
    implicit = UndoGroup(name: group.name, isDiscardable: group.isDiscardable)
    group.run()
    flush()
    while !open.isEmpty { endInnermost() }
    defer {
      implicit = nil
      open = outside
    }
    return implicit ?? UndoGroup()
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

  /// Registers how to take something back. What `handler` registers itself is what redoes it. The target isn't kept: once
  /// it is gone there is nothing to take back.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    register(target) { [weak target] in
      if let target { handler(target) }
    }
  }

  /// Forgets everything that could be undone or redone. Groups that are open stay so.
  public func removeAllActions() {
    undoStack = []
    redoStack = []
    implicit = nil
    open = open.map { _ in UndoGroup() }
  }

  /// Forgets what was registered with a target; a context registers with itself.
  ///
  /// Source: `removeAllActions(withTarget:)` of Foundation.
  public func removeAllActions(withTarget target: AnyObject) {
    flush()
    implicit?.remove(target)
    for index in open.indices { open[index].remove(target) }
    for index in undoStack.indices { undoStack[index].remove(target) }
    for index in redoStack.indices { redoStack[index].remove(target) }
    undoStack.removeAll(where: \.isEmpty)
    redoStack.removeAll(where: \.isEmpty)
  }

  func register(_ target: AnyObject, _ action: @escaping () -> Void) {
    guard isUndoRegistrationEnabled else { return }
    if !isUndoing, !isRedoing { redoStack = [] }
    let action = UndoGroup.Action(target, action)
    if let innermost = open.indices.last { return open[innermost].append(action) }
    if implicit == nil, !isUndoing, !isRedoing { tell(Self.didOpenUndoGroupNotification) }
    implicit = implicit ?? UndoGroup()
    implicit?.append(action)
    if !groupsByEvent { endEvent() }
  }

  // MARK: Groups

  /// How many groups are open that ``beginUndoGrouping()`` began.
  public var groupingLevel: Int { open.count }

  /// Begins a group, which everything up to ``endUndoGrouping()`` belongs to, inside the one that is open, if one is.
  public func beginUndoGrouping() {
    flush()
    endEvent()
    tell(Self.checkpointNotification)
    open.append(UndoGroup())
    tell(Self.didOpenUndoGroupNotification)
  }

  /// Ends the innermost group.
  public func endUndoGrouping() {
    guard !open.isEmpty else { return }
    flush()
    tell(Self.checkpointNotification)
    tell(Self.willCloseUndoGroupNotification)
    endInnermost()
    tell(Self.didCloseUndoGroupNotification)
  }

  private func endInnermost() {
    if let group = open.popLast() { close(group) }
  }

  /// Closes the group of an event, unless an undo goes on.
  func endEvent() {
    guard !isUndoing, !isRedoing, let group = implicit else { return }
    tell(Self.willCloseUndoGroupNotification)
    implicit = nil
    close(group)
    tell(Self.didCloseUndoGroupNotification)
  }

  /// Puts a group where it belongs: into the one around it, or where it can be undone.
  private func close(_ group: UndoGroup) {
    if group.isEmpty { return }
    if let around = open.indices.last { return open[around].append(group) }
    if implicit != nil, isUndoing || isRedoing {
      implicit?.append(group)
      return
    }
    undoStack.append(group)
    trim()
  }

  private func trim() {
    if levelsOfUndo > 0, undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
  }

  // MARK: Contexts

  func follow(_ source: AnyObject, flush: @escaping () -> Void) { flushes[ObjectIdentifier(source)] = flush }
  func leave(_ source: AnyObject) { flushes[ObjectIdentifier(source)] = nil }

  private func flush() { for flush in flushes.values { flush() } }

  private func tell(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}
