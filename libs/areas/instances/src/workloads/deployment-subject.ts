/** Returns the subject of events about the deployment of a revision. A revision is named `<deployment>-<number>`. */
export function deploymentSubject(revisionName: string): string {
  return `deployments/${revisionName.replace(/-\d+$/, '')}`;
}
