/// Actions, and nested groups of actions, that are taken back together.
struct UndoGroup {
  /// Takes one change back.
  struct Action {
    private(set) weak var target: AnyObject?
    let run: () -> Void

    init(_ target: AnyObject, _ run: @escaping () -> Void) {
      self.target = target
      self.run = run
    }
  }

  private enum Item {
    case action(Action)
    case group(UndoGroup)
  }

  private var items: [Item] = []
  var name: String
  var isDiscardable: Bool

  init(name: String = "", isDiscardable: Bool = false) {
    self.name = name
    self.isDiscardable = isDiscardable
  }

  var isEmpty: Bool { items.isEmpty }

  mutating func append(_ action: Action) { items.append(.action(action)) }

  mutating func append(_ group: UndoGroup) {
    if name.isEmpty { name = group.name }
    items.append(.group(group))
  }

  /// Removes the last item if it is a group.
  mutating func removeLastGroup() -> UndoGroup? {
    guard case .group(let group)? = items.last else { return nil }
    items.removeLast()
    return group
  }

  /// Removes every action of a target.
  mutating func remove(_ target: AnyObject) {
    items = items.compactMap { item in
      switch item {
      case .action(let action): return action.target === target ? nil : item
      case .group(var group):
        group.remove(target)
        return group.isEmpty ? nil : .group(group)
      }
    }
  }

  /// Runs every action, the last first.
  func run() {
    for item in items.reversed() {
      switch item {
      case .action(let action): action.run()
      case .group(let group): group.run()
      }
    }
  }
}
