import Foundation
import Importing
import ManagedObjects

/// Where a model is read from: a model as Xcode wrote or compiled it, or a Core Data store that has its model in it.
struct ModelSource {
  let path: String

  /// The kinds of files, for help texts.
  static let kinds = "An .xcdatamodeld or .xcdatamodel directory, a compiled .momd or .mom, or a Core Data store."

  /// Whether it is a mapping model, by the ending of its name.
  var isMapping: Bool { ["cdm", "xcmappingmodel"].contains(URL(fileURLWithPath: path).pathExtension.lowercased()) }

  /// The content of a mapping model.
  /// - Parameters:
  ///   - source: the model that it leads from; nil for the one that an .xcmappingmodel names.
  ///   - destination: the model that it leads to, likewise.
  /// - Throws: ``LocalFailure``.
  func readMapping(from source: String?, to destination: String?) throws -> MappingSummary {
    let url = URL(fileURLWithPath: path)
    do {
      let named = try MappingModel.models(of: url)
      guard let from = source ?? named.source?.path, let to = destination ?? named.destination?.path else {
        throw LocalFailure.cantReadModel(
          path: path,
          reason: "a mapping model is read with both of its models, and they aren't found: name them by --from and --to"
        )
      }
      let (mapping, mistakes) = try MappingModel.read(
        url, from: ModelSource(path: from).read(), to: ModelSource(path: to).read())
      return MappingSummary(mapping, mistakes: mistakes)
    } catch let error as ModelError {
      throw LocalFailure(error)
    }
  }

  /// - Throws: ``LocalFailure``.
  func read() throws -> ManagedObjectModel {
    if isMapping {
      throw LocalFailure.cantReadModel(path: path, reason: "it is a mapping model: 'ladectl model show' prints it")
    }
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
