// Builds an environment of deploy/kubernetes with kustomize.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IIngress, INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IConfigMap, INamespace, IService } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';

const FOLDER = join(import.meta.dirname, '../../deploy/kubernetes');

export type Objects = {
  ConfigMap: IConfigMap;
  Deployment: IDeployment;
  HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  Ingress: IIngress;
  Namespace: INamespace;
  NetworkPolicy: INetworkPolicy;
  PodDisruptionBudget: IPodDisruptionBudget;
  Service: IService;
};
export type Built = { apiVersion: string; kind: string; metadata: { name: string } };

/** Every object of an environment. */
export function buildOverlay(environment: string): Built[] {
  const text = execFileSync('kubectl', ['kustomize', join(FOLDER, environment)], {
    encoding: 'utf8',
    // It warns of fields that are deprecated now, whose successors older versions do not know.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return parseAllDocuments(text).map((document) => document.toJSON());
}

export function ofKind<Kind extends keyof Objects>(
  objects: readonly Built[],
  kind: Kind,
): (Objects[Kind] & Built)[] {
  // Cast: a test checks every object against the schema of its kind.
  return objects.filter((object) => object.kind === kind) as (Objects[Kind] & Built)[];
}
