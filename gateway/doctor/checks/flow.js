import { groupsAtOdds } from '../../flow/kafka-groups.js'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/** @typedef {import('../finding.js').Finding} Finding */

/** @type {import('../finding.js').Check} */
export const flow = {
  name: 'flow',
  title: 'Flow',
  async find (subject) {
    const { flowFile } = subject
    const read = await subject.flow
    const { flowProblem } = subject
    if (flowProblem !== null) return [problem(said`The flow cannot be read: ${flowProblem}.`, flowFile, READ_IT)]
    if (read === null) return [note(said`There is no flow yet.`, flowFile, said`Start the gateway once, or name the flow with --flows.`)]
    const ours = read.nodes.filter(({ type }) => type.startsWith('sluice-'))
    /** @type {Finding[]} */
    const found = []
    for (const node of ours) {
      if (!node.z && read.usersOf(node.id).length === 0) continue
      const { problems, unset } = await read.optionsOf(node)
      for (const text of [...problems.filter(() => unset.length === 0), ...await read.missingIn(node)]) {
        found.push(problem(text, nameOf(node), said`Open the node in the editor, correct it and deploy.`))
      }
      for (const variable of unset) {
        found.push(warning(said`The variable ${variable} of the environment is not set here.`, nameOf(node),
          said`Set it for the gateway; or run the doctor in the gateway's environment, or on its page.`))
      }
    }
    for (const [one, other] of groupsAtOdds(read.all)) {
      found.push(warning(said`It shares the group "${one.group}" and a topic with ${nameOf(other.config)}, but not the sinks: each of these
        gets only a part.`, nameOf(one.config), said`Give each a group of its own, or wire the same sinks behind both.`))
    }
    if (!read.hasPasswords) found.push(NO_PASSWORDS)
    return found.length > 0 ? found : [ok(said`${ours.length} nodes of Sluice are set up.`, flowFile)]
  }
}

const READ_IT = said`Run the doctor as the user of the gateway, or as root. Of a file that is damaged, Node-RED keeps the one before it:
  .flows.json.backup.`

const NO_PASSWORDS = warning(
  said`The passwords of the flow cannot be read, so that what needs one is not checked well.`, '',
  said`Run the doctor as the user of the gateway, or on its page (sluice/doctor/), which a credentialSecret in settings.js needs.`
)
