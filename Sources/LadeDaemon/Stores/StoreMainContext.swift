// What follows a did-save of an operation:
//
//   operation's private context ── save ─▶ coordinator ── announces saves in their order ─▶ main context (main queue)
//     ── passes on each save that it has merged, in the same order ─▶ feed (private queue) ─▶ fetched results controllers
//
// Rule 2 (ARCHITECTURE.md) decides the last step. Merging takes values from the save itself, so the main queue may do it.
// A standing query reads the disk: its first fetch may scan a table, and it looks at each saved row. It therefore works in
// a feed, a context with a queue of its own that hears of saves from the main context only. A child of the main context
// wouldn't do: it reads through its parent, on the main queue.
//
// Nothing keeps objects of the main context alive, and its registry is weak, so an import of a million rows leaves it as
// small as before. Saves that wait are kept for one merging interval (0.05 s) at most, and without the rows that they insert
// while neither the main context nor a feed has read anything.

import ControlAPI
import ControlServer
import ManagedObjects

/// The main context of one open store, with the measurements of its merges. Safe from any thread.
final class StoreMainContext: Sendable {
  let context: ContextQueue
  /// Measures the merges of the main context.
  let merges: MergeMeter
  /// Measures the merges of the feeds.
  let feedMerges: MergeMeter

  /// The main context of a store that nothing has been saved into yet: it merges every save.
  /// - Parameter former: the main context of the same store before a migration, whose measurements go on.
  convenience init(
    of coordinator: PersistentStoreCoordinator, name: String, continuing former: StoreMainContext? = nil
  ) {
    self.init(
      ContextQueue(.mainQueue, mergingSavesOf: coordinator, name: "main \(name)", needsRows: false),
      continuing: former)
  }

  /// Measures a context of the main queue that merges automatically.
  init(_ context: ContextQueue, continuing former: StoreMainContext? = nil) {
    self.context = context
    merges = former?.merges ?? MergeMeter()
    feedMerges = former?.feedMerges ?? MergeMeter()
    // Feeds and meters hear of a merge from the context itself.
    context.announcesChanges = false
    context.didMergeSaves = { [merges] in merges.note($0) }
  }

  /// A context with a queue of its own that merges what the main context has merged, from now on.
  func makeFeed(name: String) -> ContextQueue {
    let feed = ContextQueue(
      .privateQueue, mergingSavesOf: context.persistentStoreCoordinator, through: context, name: name)
    feed.didMergeSaves = { [feedMerges] in feedMerges.note($0) }
    return feed
  }

  /// Waits until the main context has merged and passed on what has been saved so far.
  func catchUp() async { await context.perform { _ in } }

  /// Forgets every object, because the content of the store was replaced, which no save says.
  func reset() async {
    await context.perform { [merges] context in
      context.reset()
      merges.noteReset()
    }
  }

  /// How far it was after its latest merge. Saves that wait aren't merged for it, and it doesn't wait for the main queue: who
  /// needs that calls ``catchUp()`` first.
  var status: MainContextStatus {
    MainContextStatus(
      savesMerged: Int64(clamping: merges.saves), lag: merges.lag, registeredObjects: merges.registeredObjects)
  }
}
