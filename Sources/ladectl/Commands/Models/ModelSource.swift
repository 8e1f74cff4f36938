import Foundation
import Importing
import ManagedObjects

/// Where a model is read from: a model as Xcode wrote or compiled it, or a Core Data store that has its model in it.
struct ModelSource {
  let path: String

  /// The kinds of files, for help texts.
  static let kinds = "An .xcdatamodeld or .xcdatamodel directory, a compiled .momd or .mom, or a Core Data store."

  /// - Throws: ``LocalFailure``.
  func read() throws -> ManagedObjectModel {
    let url = URL(fileURLWithPath: path)
    do {
      if try CoreDataStoreModel.isDatabase(url) { return try CoreDataStoreModel.read(url) }
      return try ManagedObjectModel(contentsOf: url)
    } catch let error as ModelError {
      throw LocalFailure(error)
    } catch {
      throw LocalFailure.cantReadModel(path: path, reason: "\(error)")
    }
  }
}
