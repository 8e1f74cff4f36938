public import Foundation

/// Undoes and redoes changes group by group.
///
/// A context with an ``ManagedObjectContext/undoManager`` registers its changes automatically. The changes of one `perform`, or
/// those up to a ``ManagedObjectContext/processPendingChanges()``, are an event and make a group, unless
/// ``beginUndoGrouping()`` and ``endUndoGrouping()`` enclose several. Other actions that are registered during the event
/// belong to the same group. Groups nest: ``undo()`` takes back the outermost one, ``undoNestedGroup()`` the last one inside.
///
/// Used on one queue: that of the context. Source: Foundation's `UndoManager`, which Linux doesn't have. Differences:
/// - A group that is begun in the middle of an event stands by itself, not inside the event's group.
/// - Where Foundation raises an exception, nothing happens.
/// - A group in which nothing was registered leaves nothing to undo.
/// - There are no selectors and invocations, only closures, and no run loop modes.
public final class UndoManager {
  private var undoStack: [UndoGroup] = []
  private var redoStack: [UndoGroup] = []
  /// The group of the event, or of the undo or redo that is running.
  private var implicit: UndoGroup?
  /// The groups that are open, the innermost last.
  private var open: [UndoGroup] = []
  /// Makes the contexts register the changes that they have collected but not processed.
  private var flushes: [ObjectIdentifier: () -> Void] = [:]
  private var disabled = 0

  /// Whether ``undo()`` is running.
  public private(set) var isUndoing = false
  /// Whether ``redo()`` is running.
  public private(set) var isRedoing = false
  /// Whether the registrations of one event, outside of groups, make one group; true by default. Otherwise each registration
  /// outside of groups makes a group of its own.
  public var groupsByEvent = true {
    didSet { if !groupsByEvent { endEvent() } }
  }
  /// The greatest number of groups that can be undone, 0 for no limit. Older groups are forgotten.
  public var levelsOfUndo: Int {
    didSet { trim() }
  }

  /// An undo manager without groups.
  public init(levelsOfUndo: Int = 0) { self.levelsOfUndo = levelsOfUndo }

  // MARK: Undoing

  /// Whether there is something to undo, including in a group that is still open.
  public var canUndo: Bool {
    !undoStack.isEmpty || implicit?.isEmpty == false || open.contains { !$0.isEmpty }
  }
  /// Whether there is a group to redo.
  public var canRedo: Bool { !redoStack.isEmpty }

  /// Takes the last group back, after ending the open one. Does nothing while several nested groups are open, or within an
  /// undo or redo.
  public func undo() {
    guard !isUndoing, !isRedoing, open.count <= 1 else { return }
    if open.count == 1 { endUndoGrouping() }
    undoNestedGroup()
  }

  /// Takes back the group that was ended last, inside the open group if there is one. Does nothing when something was
  /// registered after it, or within an undo or redo.
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

  /// Redoes the group that was undone last. The actions that take it back make a group, inside the open group if there is one.
  /// Does nothing within an undo or redo.
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

  /// Runs a group's actions, the last first, and returns the actions that they registered.
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

  /// Whether registrations are accepted.
  public var isUndoRegistrationEnabled: Bool { disabled == 0 }

  /// Ignores registrations until ``enableUndoRegistration()`` has been called as often.
  public func disableUndoRegistration() {
    flush()
    disabled += 1
  }

  /// Accepts registrations again.
  public func enableUndoRegistration() {
    guard disabled > 0 else { return }
    flush()
    disabled -= 1
  }

  /// Registers how to take a change back. The actions that `handler` registers redo it. The target is held weakly: once it is
  /// gone, there is nothing to take back.
  public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
    register(target) { [weak target] in
      if let target { handler(target) }
    }
  }

  /// Forgets everything that could be undone or redone. Open groups stay open.
  public func removeAllActions() {
    undoStack = []
    redoStack = []
    implicit = nil
    open = open.map { _ in UndoGroup() }
  }

  /// Forgets the actions registered with a target. A context registers its changes with itself.
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

  /// The number of open groups that ``beginUndoGrouping()`` began.
  public var groupingLevel: Int { open.count }

  /// Begins a group that lasts until ``endUndoGrouping()``, inside the open group if there is one.
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

  /// Closes the group of an event, unless an undo or redo is running.
  func endEvent() {
    guard !isUndoing, !isRedoing, let group = implicit else { return }
    tell(Self.willCloseUndoGroupNotification)
    implicit = nil
    close(group)
    tell(Self.didCloseUndoGroupNotification)
  }

  /// Adds a group to the one around it, or to those that can be undone.
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
  func unfollow(_ source: AnyObject) { flushes[ObjectIdentifier(source)] = nil }

  private func flush() { for flush in flushes.values { flush() } }

  private func tell(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }

  // MARK: Names

  /// The name of the group that would be undone; empty without a name.
  public var undoActionName: String { lastGroup?.name ?? "" }
  /// The name of the group that would be redone; empty without a name.
  public var redoActionName: String { redoStack.last?.name ?? "" }
  /// The title of a menu item for undo: "Undo Typing".
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// The title of a menu item for redo: "Redo Typing".
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// "Undo" with a name. In English; a program in another language builds the title from the name.
  public func undoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Undo" : "Undo \(name)" }
  /// "Redo" with a name. In English; a program in another language builds the title from the name.
  public func redoMenuTitle(forUndoActionName name: String) -> String { name.isEmpty ? "Redo" : "Redo \(name)" }

  /// Sets the name that a menu shows for the group in progress or, without one, for the last group. Empty removes the name. A
  /// group without a name takes that of the last group in it.
  public func setActionName(_ name: String) { change { $0.name = name } }

  /// Sets whether the last group's changes may be lost without asking the user, such as a text selection.
  public func setActionIsDiscardable(_ isDiscardable: Bool) { change { $0.isDiscardable = isDiscardable } }
  /// Whether the group that would be undone is discardable.
  public var undoActionIsDiscardable: Bool { lastGroup?.isDiscardable ?? false }
  /// Whether the group that would be redone is discardable.
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

extension UndoManager {
  /// Posted before groups are opened and closed, undone and redone. For all of these, `object` is the manager.
  public static let checkpointNotification = Notification.Name("NSUndoManagerCheckpointNotification")
  /// Posted when a group has been opened.
  public static let didOpenUndoGroupNotification = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted before a group is closed.
  public static let willCloseUndoGroupNotification = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
  /// Posted when a group has been closed.
  public static let didCloseUndoGroupNotification = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
  /// Posted before a group is undone.
  public static let willUndoChangeNotification = Notification.Name("NSUndoManagerWillUndoChangeNotification")
  /// Posted when a group has been undone.
  public static let didUndoChangeNotification = Notification.Name("NSUndoManagerDidUndoChangeNotification")
  /// Posted before a group is redone.
  public static let willRedoChangeNotification = Notification.Name("NSUndoManagerWillRedoChangeNotification")
  /// Posted when a group has been redone.
  public static let didRedoChangeNotification = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}
