import Foundation
import ManagedObjects
import TestSupport

/// What the contexts of a coordinator save, seen by did-save notifications.
final class Saves {
  private let recorder = Recorder<ContextSave>()
  private var observer: (any NSObjectProtocol)?

  init(of coordinator: PersistentStoreCoordinator) {
    let recorder = recorder
    observer = NotificationCenter.default.addObserver(
      forName: ManagedObjectContext.didSaveObjectsNotification, object: nil, queue: nil
    ) { note in
      guard let context = note.object as? ManagedObjectContext, context.persistentStoreCoordinator === coordinator,
        let save = ContextSave(note)
      else { return }
      recorder.note(save)
    }
  }

  deinit {
    if let observer { NotificationCenter.default.removeObserver(observer) }
  }

  /// How many objects of an entity were inserted, changed or deleted.
  func count(of entity: String) -> Int {
    recorder.items.flatMap { $0.insertedObjectIDs + $0.updatedObjectIDs + $0.deletedObjectIDs }
      .filter { $0.entity.name == entity }.count
  }

  /// What they were.
  var all: [ContextSave] { recorder.items }

  /// Saves seen.
  var total: Int { recorder.items.count }
}
