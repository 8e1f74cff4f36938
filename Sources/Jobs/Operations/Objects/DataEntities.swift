import Importing
import ManagedObjects

/// The entities that are somebody's data, without those that imports keep for themselves.
enum DataEntities {
  static func of(_ model: ManagedObjectModel) -> [EntityDescription] {
    model.entities.filter { !ImportModel.entities.contains($0.name) }
  }
}
