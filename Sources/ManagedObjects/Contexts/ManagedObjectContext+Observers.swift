// Who follows a context's objects needs more than notifications tell: the rows of a merge, whose objects may not be
// known here, and a word when everything has been processed, also after a save that changed nothing but IDs. Observers
// are held weakly, may be let go of on any thread, and cost a look at an empty array where there are none.

/// What a context tells on its queue to whoever follows its objects.
protocol ContextObserver: AnyObject {
  /// Another context's save is being merged: the objects known here have its values already. ``contextDidProcess(_:)``
  /// follows.
  func contextWillProcess(_ save: ContextSave)
  /// Changes have been processed and announced: those since the last time, often none. Objects may have got permanent
  /// IDs since.
  func contextDidProcess(_ changes: PendingChanges)
  /// The context has forgotten everything.
  func contextDidReset()
}

/// The observers of one context.
struct ContextObservers {
  private struct Entry {
    weak var observer: (any ContextObserver)?
  }

  private var entries: [Entry] = []

  /// Whether somebody follows, or did until lately.
  var mayHaveAny: Bool { !entries.isEmpty }

  mutating func add(_ observer: any ContextObserver) {
    entries.removeAll { $0.observer == nil }
    entries.append(Entry(observer: observer))
  }

  func willProcess(_ save: ContextSave) { for entry in entries { entry.observer?.contextWillProcess(save) } }

  func didProcess(_ changes: PendingChanges) { for entry in entries { entry.observer?.contextDidProcess(changes) } }

  func didReset() { for entry in entries { entry.observer?.contextDidReset() } }
}
