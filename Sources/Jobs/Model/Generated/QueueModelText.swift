// Generated from Queue.xcdatamodel by the plugin ManagedObjectClasses of lade: change the model, not this file.
// swift-format-ignore-file

package import ManagedObjects

/// The model Queue.xcdatamodel, and the classes of its objects.
package enum QueueModel {
  /// The model with its classes: one for the whole program.
  package static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        xml: xml, file: "Queue.xcdatamodel", classes: classes, layouts: layouts)
    } catch {
      // It was read without an error when this source was generated from it.
      preconditionFailure("QueueModel: \(error)")
    }
  }()

  private static let xml = #"""
<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!-- The queue's own model. To change it, add attributes at the end, optional or with a default, and never give an old
     name a new meaning; then run `make classes`. -->
<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
    <entity name="Job" representedClassName="JobRecord" codeGenerationType="category">
        <attribute name="kind" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="lane" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="state" attributeType="String">
            <userInfo>
                <entry key="accessorName" value="jobState"/>
                <entry key="accessorType" value="JobState"/>
                <entry key="documentation" value="The attribute `state`. Nil when the store holds a state that this version doesn&#x27;t know."/>
            </userInfo>
        </attribute>
        <attribute name="priority" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="store" optional="YES" attributeType="String"/>
        <attribute name="entityName" optional="YES" attributeType="String"/>
        <attribute name="mode" optional="YES" attributeType="String"/>
        <attribute name="recipe" optional="YES" attributeType="String"/>
        <attribute name="source" optional="YES" attributeType="String"/>
        <attribute name="activeName" optional="YES" attributeType="String"/>
        <attribute name="format" optional="YES" attributeType="String"/>
        <attribute name="options" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;{}&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="tags" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The words between bars, `|one|two|`, so a word is found with its bars; see `tagList`."/>
            </userInfo>
        </attribute>
        <attribute name="submittedBy" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="uniqueKey" optional="YES" attributeType="String"/>
        <attribute name="origin" optional="YES" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobOrigin"/>
            </userInfo>
        </attribute>
        <attribute name="submittedAt" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorDefault" value=".distantPast"/>
            </userInfo>
        </attribute>
        <attribute name="notBefore" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="availableAt" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="Nil except while the job waits for a time: the index `due` holds only such jobs."/>
            </userInfo>
        </attribute>
        <attribute name="startedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="endedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="attempt" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="maxAttempts" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="rescues" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="isHeld" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="isAwaitingFile" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="isCancelRequested" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="reason" optional="YES" attributeType="String"/>
        <attribute name="failureCode" optional="YES" attributeType="String"/>
        <attribute name="note" optional="YES" attributeType="String"/>
        <attribute name="rejectsFile" optional="YES" attributeType="String"/>
        <attribute name="bytesDone" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="bytesTotal" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="records" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="inserted" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="updated" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="unchanged" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="deleted" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="rejected" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="skipped" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="timeout" optional="YES" attributeType="Double" usesScalarValueType="NO"/>
        <attribute name="deadline" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="expiresAt" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The deadline while the job waits; nil otherwise, so the index `expiry` holds only what may expire."/>
            </userInfo>
        </attribute>
        <attribute name="isAwaitingJobs" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="isFollowed" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Whether a job was ever submitted that follows this one."/>
            </userInfo>
        </attribute>
        <attribute name="batch" optional="YES" attributeType="Integer 64" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The number of its `BatchRecord`."/>
            </userInfo>
        </attribute>
        <attribute name="checkpoint" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="How far an operation on the queue itself has come: see `ChangeCheckpoint`."/>
            </userInfo>
        </attribute>
        <attribute name="claim" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Rises with each claim and each rescue, and never falls."/>
            </userInfo>
        </attribute>
        <attribute name="owner" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The incarnation of the daemon that runs it, where several share the queue."/>
            </userInfo>
        </attribute>
        <attribute name="host" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The host that has its files, where several daemons share the queue; nil where any may run it."/>
            </userInfo>
        </attribute>
        <attribute name="revision" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Rises where several daemons share the queue and something changes that the job depends on, or that depends on it: so two such changes at the same time are a conflict."/>
            </userInfo>
        </attribute>
        <attribute name="sharedFile" optional="YES" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="SharedFile"/>
                <entry key="documentation" value="What its file is, if the queue&#x27;s store has the bytes, so that any daemon may run it. It stays when they have been removed."/>
            </userInfo>
        </attribute>
        <relationship name="transitions" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="JobTransition" inverseName="job" inverseEntity="JobTransition"/>
        <relationship name="dependencies" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="JobDependency" inverseName="job" inverseEntity="JobDependency"/>
        <fetchIndex name="claim">
            <fetchIndexElement property="lane" type="Binary" order="ascending"/>
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
            <fetchIndexElement property="priority" type="Binary" order="descending"/>
        </fetchIndex>
        <fetchIndex name="due" partialIndexPredicate="availableAt != nil">
            <fetchIndexElement property="availableAt" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="expiry" partialIndexPredicate="expiresAt != nil">
            <fetchIndexElement property="expiresAt" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="state">
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="laneState">
            <fetchIndexElement property="lane" type="Binary" order="ascending"/>
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="ended" partialIndexPredicate="endedAt != nil">
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
            <fetchIndexElement property="endedAt" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="unique" partialIndexPredicate="uniqueKey != nil">
            <fetchIndexElement property="uniqueKey" type="Binary" order="ascending"/>
            <fetchIndexElement property="state" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="batch" partialIndexPredicate="batch != nil">
            <fetchIndexElement property="batch" type="Binary" order="ascending"/>
        </fetchIndex>
        <fetchIndex name="owner" partialIndexPredicate="owner != nil">
            <fetchIndexElement property="owner" type="Binary" order="ascending"/>
        </fetchIndex>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="origin"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobTransition" representedClassName="TransitionRecord" codeGenerationType="category">
        <attribute name="at" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="fromState" optional="YES" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobState"/>
                <entry key="documentation" value="Nil for the submission."/>
            </userInfo>
        </attribute>
        <attribute name="toState" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobState"/>
            </userInfo>
        </attribute>
        <attribute name="reason" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="requestedBy" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="Nil for the queue itself."/>
            </userInfo>
        </attribute>
        <relationship name="job" maxCount="1" deletionRule="Nullify" destinationEntity="Job" inverseName="transitions" inverseEntity="Job"/>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobDependency" representedClassName="DependencyRecord" codeGenerationType="category">
        <attribute name="on" attributeType="Integer 64" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="The number of the job that is followed, which may have been removed."/>
            </userInfo>
        </attribute>
        <attribute name="condition" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobDependency.Condition"/>
                <entry key="accessorDefault" value=".succeeded"/>
            </userInfo>
        </attribute>
        <attribute name="isSettled" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Whether the job that is followed has ended, or no longer matters."/>
            </userInfo>
        </attribute>
        <relationship name="job" maxCount="1" deletionRule="Nullify" destinationEntity="Job" inverseName="dependencies" inverseEntity="Job"/>
        <fetchIndex name="on">
            <fetchIndexElement property="on" type="Binary" order="ascending"/>
        </fetchIndex>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobBatch" representedClassName="BatchRecord" codeGenerationType="category">
        <attribute name="name" optional="YES" attributeType="String"/>
        <attribute name="submittedBy" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="submittedAt" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorDefault" value=".distantPast"/>
            </userInfo>
        </attribute>
        <attribute name="endedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="total" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
            </userInfo>
        </attribute>
        <attribute name="pending" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Jobs that haven&#x27;t ended."/>
            </userInfo>
        </attribute>
        <attribute name="failed" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Jobs that ended without having succeeded."/>
            </userInfo>
        </attribute>
        <attribute name="kept" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Jobs that are still in the queue&#x27;s store: with the last of them the batch is removed."/>
            </userInfo>
        </attribute>
        <attribute name="callback" optional="YES" attributeType="Integer 64" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The number of the job that follows them all."/>
            </userInfo>
        </attribute>
        <attribute name="condition" attributeType="String">
            <userInfo>
                <entry key="accessorType" value="JobDependency.Condition"/>
                <entry key="accessorDefault" value=".succeeded"/>
                <entry key="documentation" value="How they must have ended for the callback to run."/>
            </userInfo>
        </attribute>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="LaneSetting" representedClassName="LaneRecord" codeGenerationType="category">
        <attribute name="lane" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="The lane&#x27;s name."/>
            </userInfo>
        </attribute>
        <attribute name="isPaused" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="pausedBy" optional="YES" attributeType="String"/>
        <attribute name="pausedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <attribute name="concurrency" optional="YES" attributeType="Integer 32" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorType" value="Int"/>
                <entry key="documentation" value="Nil for the configuration&#x27;s."/>
            </userInfo>
        </attribute>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="lane"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobSchedule" representedClassName="ScheduleRecord" codeGenerationType="category">
        <attribute name="name" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="The schedule&#x27;s name in the configuration."/>
            </userInfo>
        </attribute>
        <attribute name="calendar" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The calendar for which the rest holds; nil while the schedule doesn&#x27;t run."/>
            </userInfo>
        </attribute>
        <attribute name="handled" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="All elapses up to this time have been handled: no jobs are made for them any more."/>
            </userInfo>
        </attribute>
        <attribute name="lastElapse" optional="YES" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The latest elapse that was handled."/>
            </userInfo>
        </attribute>
        <attribute name="lastOutcome" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="What came of it, for people."/>
            </userInfo>
        </attribute>
        <attribute name="lastOrigin" optional="YES" attributeType="String">
            <userInfo>
                <entry key="documentation" value="The origin of the latest job that was made."/>
            </userInfo>
        </attribute>
        <attribute name="isPaused" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES"/>
        <attribute name="pausedBy" optional="YES" attributeType="String"/>
        <attribute name="pausedAt" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="name"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="RecipeRun" representedClassName="RecipeRunRecord" codeGenerationType="category">
        <attribute name="recipe" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="The recipe&#x27;s name in the configuration."/>
            </userInfo>
        </attribute>
        <attribute name="endedAt" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorDefault" value=".distantPast"/>
                <entry key="documentation" value="When the import completed; without a job, since when the recipe is watched."/>
            </userInfo>
        </attribute>
        <attribute name="job" optional="YES" attributeType="Integer 64" usesScalarValueType="NO">
            <userInfo>
                <entry key="documentation" value="The job&#x27;s number, which may be removed by now; nil in the row that says since when the recipe is watched."/>
            </userInfo>
        </attribute>
        <attribute name="records" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Records that were imported, changed or not."/>
            </userInfo>
        </attribute>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="QueueDaemon" representedClassName="DaemonRecord" codeGenerationType="category">
        <attribute name="incarnation" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="A random number that a start of the daemon has made, and no other start ever makes."/>
            </userInfo>
        </attribute>
        <attribute name="host" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="startedAt" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorDefault" value=".distantPast"/>
            </userInfo>
        </attribute>
        <attribute name="process" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES"/>
        <attribute name="version" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="isGone" attributeType="Boolean" defaultValueString="NO" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Whether its lease was found over. Nothing else ever changes: the row is the fence of what the daemon writes."/>
            </userInfo>
        </attribute>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="incarnation"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="QueueHost" representedClassName="HostRecord" codeGenerationType="category">
        <attribute name="name" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="folder" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="Names the folder with the daemon&#x27;s state, as no other one."/>
            </userInfo>
        </attribute>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="name"/>
            </uniquenessConstraint>
            <uniquenessConstraint>
                <constraint value="folder"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="QueueLease" representedClassName="LeaseRecord" codeGenerationType="category">
        <attribute name="incarnation" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
            </userInfo>
        </attribute>
        <attribute name="until" attributeType="Date" usesScalarValueType="NO">
            <userInfo>
                <entry key="accessorDefault" value=".distantPast"/>
                <entry key="documentation" value="By the store&#x27;s clock."/>
            </userInfo>
        </attribute>
        <fetchIndex name="until">
            <fetchIndexElement property="until" type="Binary" order="ascending"/>
        </fetchIndex>
        <uniquenessConstraints>
            <uniquenessConstraint>
                <constraint value="incarnation"/>
            </uniquenessConstraint>
        </uniquenessConstraints>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
    <entity name="JobFilePart" representedClassName="FilePartRecord" codeGenerationType="category">
        <attribute name="job" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="The number of the job."/>
            </userInfo>
        </attribute>
        <attribute name="name" attributeType="String">
            <userInfo>
                <entry key="accessorDefault" value="&quot;&quot;"/>
                <entry key="documentation" value="Empty for the job&#x27;s file, else the name of a reject file."/>
            </userInfo>
        </attribute>
        <attribute name="start" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="YES">
            <userInfo>
                <entry key="documentation" value="Where in the file the bytes are."/>
            </userInfo>
        </attribute>
        <attribute name="bytes" attributeType="Binary">
            <userInfo>
                <entry key="accessorDefault" value=".init()"/>
            </userInfo>
        </attribute>
        <attribute name="closing" optional="YES" attributeType="Binary">
            <userInfo>
                <entry key="documentation" value="What a reject file ends with that has no record after these."/>
            </userInfo>
        </attribute>
        <fetchIndex name="place">
            <fetchIndexElement property="job" type="Binary" order="ascending"/>
            <fetchIndexElement property="name" type="Binary" order="ascending"/>
            <fetchIndexElement property="start" type="Binary" order="ascending"/>
        </fetchIndex>
        <userInfo>
            <entry key="accessLevel" value="package"/>
        </userInfo>
    </entity>
</model>

"""#
}
